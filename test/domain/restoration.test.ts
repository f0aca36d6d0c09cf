// A database that gave back an earlier state is noticed, and one that a standby took over is not taken for it.

import { expect, test } from 'bun:test'
import {
  countersAfterRestore,
  type Found,
  isCount,
  judgeState,
  type Witness,
} from '../../src/domain/restoration.ts'

const found = (changes: Partial<Found> = {}): Found => ({
  tag: 'a',
  beats: 100,
  restoredAt: 0,
  place: 'here',
  here: 'here',
  operations: new Set(),
  ...changes,
})
const witness = (changes: Partial<Witness> = {}): Witness => ({
  tag: 'a',
  beats: 100,
  restoredAt: 0,
  place: null,
  operations: [],
  isFinal: false,
  ...changes,
})
const starting = (state: Partial<Found>, ...witnesses: Witness[]) =>
  judgeState(found(state), witnesses, { isRunning: false }).is
const running = (state: Partial<Found>, memory: Partial<Witness> = {}) =>
  judgeState(found(state), [witness(memory)], { isRunning: true }).is

test('a database that holds all that its witnesses remember is intact', () => {
  expect(starting({})).toBe('intact')
  expect(starting({}, witness())).toBe('intact')
  expect(starting({ beats: 140 }, witness(), witness({ beats: 120 }))).toBe('intact')
  expect(starting({ operations: new Set(['x']) }, witness({ operations: ['x'] }))).toBe('intact')
})

test('a database is an earlier state when one witness is ahead of it', () => {
  expect(starting({}, witness(), witness({ beats: 101 }))).toBe('restored')
  expect(starting({}, witness({ operations: ['x'] }))).toBe('restored')
  expect(starting({}, witness({ restoredAt: 5, beats: 1 }))).toBe('restored')
  expect(running({ beats: 99 })).toBe('restored')
  expect(running({ beats: 300 }, { operations: ['x'] })).toBe('restored')
})

test('what a witness remembers from before the last after-restore does not matter', () => {
  expect(starting({ restoredAt: 7 }, witness({ restoredAt: 5, beats: 900, operations: ['x'] }))).toBe(
    'intact',
  )
})

test('a database elsewhere is served when the node that stopped last knows it as it is', () => {
  expect(starting({ here: 'there' }, witness({ isFinal: true }))).toBe('intact')
  expect(starting({ here: 'there' }, witness())).toBe('moved')
  expect(starting({ here: 'there' })).toBe('moved')
  expect(starting({ here: 'there', beats: 101 }, witness({ isFinal: true }))).toBe('moved')
  expect(starting({ here: 'there' }, witness({ isFinal: true, beats: 101 }))).toBe('restored')
})

test('a running node that misses nothing goes on with a standby that took over', () => {
  expect(running({ here: 'there', operations: new Set(['x']) }, { operations: ['x'] })).toBe('intact')
  expect(running({ here: 'there' }, { operations: ['x'] })).toBe('restored')
})

const onTimeline = (timeline: string, cluster = '7312') => `${cluster}/16385/16392/${timeline}`

test('a server that a failover left behind is noticed, however far it went on', () => {
  const left = { here: onTimeline('00000009'), place: onTimeline('00000009'), beats: 900 }
  const known = { place: onTimeline('0000000A') }
  expect(judgeState(found(left), [witness(known)], { isRunning: false })).toEqual({
    is: 'restored',
    why: expect.stringContaining('on timeline 9 of its server, and was served on timeline 10 already'),
  })
  expect(running(left, known)).toBe('restored')
  expect(running({ ...left, here: onTimeline('0000000B') }, known)).toBe('intact')
  expect(running({ ...left, restoredAt: 5 }, known)).toBe('intact')
})

test('the timelines of two clusters cannot be compared', () => {
  const known = { place: onTimeline('00000002', '7313') }
  expect(running({ here: onTimeline('00000001') }, known)).toBe('intact')
  expect(running({ here: onTimeline('') }, { place: onTimeline('00000002') })).toBe('intact')
})

test('a database that was never served may be anywhere', () => {
  expect(starting({ place: null })).toBe('intact')
})

test('the database of another instance is foreign, however far it is', () => {
  expect(starting({ tag: 'b', beats: 900 }, witness())).toBe('foreign')
  expect(running({ tag: 'b', restoredAt: 9 })).toBe('foreign')
})

test('a database whose counters no node can have written is not served', () => {
  for (const beats of [-1, 0.5, 2 ** 52, Number.MAX_SAFE_INTEGER, 2 ** 60, Number.NaN]) {
    expect(starting({ beats })).toBe('restored')
    expect(running({ beats })).toBe('restored')
    expect(starting({ restoredAt: beats })).toBe('restored')
  }
  expect(starting({ beats: 2 ** 52 - 1 })).toBe('intact')
})

test('after-restore goes beyond all that is remembered, and never beyond what can be counted', () => {
  const known = [
    { beats: 4, restoredAt: 700 },
    { beats: 9, restoredAt: 200 },
  ]
  expect(countersAfterRestore(500, known)).toEqual({ beats: 10, restoredAt: 701 })
  expect(countersAfterRestore(900, known)).toEqual({ beats: 10, restoredAt: 900 })
  expect(countersAfterRestore(900, [])).toEqual({ beats: 1, restoredAt: 900 })
  const damaged = { beats: Number.MAX_SAFE_INTEGER, restoredAt: 2 ** 60 }
  expect(countersAfterRestore(900, [damaged])).toEqual({ beats: 1, restoredAt: 900 })
  expect(isCount(2 ** 52)).toBe(false)
})
