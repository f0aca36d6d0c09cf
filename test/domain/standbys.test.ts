// What the servers that follow PostgreSQL say about a failover, as far as one user of the database sees them.

import { describe, expect, test } from 'bun:test'
import {
  describeStandbys,
  explainWaiting,
  isNamed,
  judgeStandbys,
  parseStandbyNames,
  type Standbys,
} from '../../src/domain/standbys.ts'

const seen = (changes: Partial<Standbys>): Standbys => ({
  ...{ names: 'a', following: ['a'], named: ['a'], confirming: ['a'] },
  ...changes,
})

describe('synchronous_standby_names', () => {
  test.each([
    ['', 0, []],
    ['  ', 0, []],
    ['a', 1, ['a']],
    ['*', 1, ['*']],
    ['a, b-not-quoted', 1, ['a', 'b-not-quoted']],
    ['2 (a, b, c)', 2, ['a', 'b', 'c']],
    ['FIRST 2 (a,b)', 2, ['a', 'b']],
    ['any 1 ( "node, 1" , "say ""b""" )', 1, ['node, 1', 'say "b"']],
    ['"("', 1, ['(']],
    ['2(a,b)', 2, ['a', 'b']],
  ])('%p asks for %p of %p', (setting, needed, names) => {
    expect(parseStandbyNames(setting)).toEqual({ needed, names })
  })

  test('names standbys whatever the case of their letters, or all of them', () => {
    expect([isNamed('Standby', 'standby'), isNamed('b', 'ANY 1 (a)'), isNamed('b', 'ANY 1 (a, *)')]).toEqual([
      ...[true, false, true],
    ])
  })
})

test.each([
  ['without one', { names: '', following: [], named: [] }, 'none'],
  ['that nobody waits for', { names: '', named: [] }, 'asynchronous'],
  ['under another name', { names: 'gone', named: [] }, 'missing'],
  ['one of the two that are asked for', { names: 'ANY 2 (a, b)' }, 'missing'],
  ['connected, and not caught up', { confirming: [] }, 'behind'],
  ['connected, before a user who may not see more', { confirming: null }, 'unseen'],
  ['that confirm changes', {}, 'confirmed'],
])('standbys: %s', (_, changes, state) => {
  expect<string>(judgeStandbys(seen(changes))).toBe(state)
})

test('what changes wait for in vain is named, with what is connected under other names', () => {
  expect(explainWaiting(seen({}))).toBeNull()
  expect(explainWaiting(seen({ confirming: null }))).toBeNull()
  const gone = seen({ names: 'gone', named: [] })
  expect(explainWaiting(gone)).toStartWith(
    'No standby of synchronous_standby_names (gone) is connected: every',
  )
  expect(explainWaiting(gone)).toContain('Connected under other names: a.')
  expect(explainWaiting(seen({ names: 'ANY 2 (a, b)' }))).toStartWith('Only 1 of the 2 standbys')
  expect(explainWaiting(seen({ confirming: [] }))).toContain('0 confirm changes, though a is connected')
})

test('a few words say no more than was seen', () => {
  const say = (changes: Partial<Standbys>, isProven = false) => describeStandbys(seen(changes), { isProven })
  expect(say({ names: '', following: [] })).toBe('none')
  expect(say({ names: '' })).toBe('asynchronous: a')
  expect(say({})).toBe('synchronous (a); connected: a; confirming: a')
  expect(say({ confirming: null })).toContain('confirming: not shown to this user (GRANT pg_read_all_stats')
  expect(say({ confirming: null }, true)).toEndWith('the last heartbeat was confirmed by as many as it needs')
})
