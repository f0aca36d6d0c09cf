// The sweeper's parts: a failing part is reported and does not stop the others.

import { expect, test } from 'bun:test'
import { DomainError } from '../../src/domain/errors.ts'
import { DAY } from '../../src/domain/time.ts'
import { createSweeper } from '../../src/pushes/sweeper.ts'

type Part = 'expire' | 'anonymous' | 'owned' | 'keys' | 'soon' | 'events' | 'files'

function sweeperWith({ failing, isDoubted = false }: { failing: Part | null; isDoubted?: boolean }) {
  const done: Part[] = []
  const run = (part: Part) => async () => {
    if (part === failing) throw new Error(`${part} failed`)
    const isFirst = !done.includes(part)
    done.push(part)
    return isFirst ? 1 : 0
  }
  const sweeper = createSweeper({
    expiry: {
      findNextLapse: async () => 7 * DAY,
      expireLapsed: run('expire'),
      purgeExpired: ({ of }) => run(of)(),
    },
    files: { removeDue: run('files'), findNextDue: async () => 5 * DAY },
    idempotencyKeys: { removeLapsed: run('keys') },
    shared: { removeLapsed: async () => 0 },
    requests: { purge: async () => 0 },
    events: { tellExpiring: run('soon'), tellPausing: async () => 0, removeOld: run('events') },
    trusted: () => (isDoubted ? null : 100 * DAY),
    purgeAfter: DAY,
    pauseTokensAfter: 0,
  })
  return { sweeper, done }
}

test('all parts run in order, each until it is done', async () => {
  const { sweeper, done } = sweeperWith({ failing: null })
  expect(await sweeper.sweep()).toEqual({ expired: 1, purged: 2, files: 1 })
  expect(done).toEqual([
    'expire',
    'expire',
    'anonymous',
    'anonymous',
    'owned',
    'owned',
    'keys',
    'keys',
    'soon',
    'soon',
    'events',
    'events',
    'files',
  ])
  expect(sweeper.last()).toMatchObject({ at: 100 * DAY, purged: 2 })
})

test.each<Part>(['expire', 'anonymous', 'owned', 'keys', 'soon', 'events', 'files'])(
  'a failure of %s does not stop the other parts',
  async (failing) => {
    const { sweeper, done } = sweeperWith({ failing })
    await expect(sweeper.sweep()).rejects.toThrow(`${failing} failed`)
    const others = ['expire', 'anonymous', 'owned', 'keys', 'soon', 'events', 'files'].filter(
      (part) => part !== failing,
    )
    expect([...new Set<string>(done)]).toEqual(others)
    expect(sweeper.last()).toMatchObject({ at: 100 * DAY })
  },
)

test('parts with the same failure are reported as one', async () => {
  const away = new DomainError('overloaded', 'The database does not answer.')
  const fail = () => Promise.reject(away)
  const sweeper = createSweeper({
    expiry: { findNextLapse: fail, expireLapsed: fail, purgeExpired: fail },
    files: { removeDue: fail, findNextDue: fail },
    idempotencyKeys: { removeLapsed: fail },
    shared: { removeLapsed: fail },
    requests: { purge: fail },
    events: { tellExpiring: fail, tellPausing: fail, removeOld: fail },
    trusted: () => 0,
    purgeAfter: DAY,
    pauseTokensAfter: 0,
  })
  expect(await sweeper.sweep().catch((cause) => cause)).toBe(away)
})

test('due pushes expire between sweeps, and the next sweep counts them', async () => {
  const { sweeper, done } = sweeperWith({ failing: null })
  expect(await sweeper.findNextDue()).toBe(5 * DAY)
  await Promise.all([sweeper.expireDue(), sweeper.expireDue()])
  expect(done).toEqual(['expire', 'expire', 'files'])
  expect(await sweeper.sweep()).toEqual({ expired: 1, purged: 2, files: 1 })
  expect(await sweeper.sweep()).toEqual({ expired: 0, purged: 0, files: 0 })
})

test('due files are removed even when pushes cannot be expired', async () => {
  const { sweeper, done } = sweeperWith({ failing: 'expire' })
  await expect(sweeper.expireDue()).rejects.toThrow('expire failed')
  expect(done).toEqual(['files'])
})

test('the sweeper does nothing while the clock is in doubt, and reports nothing as due', async () => {
  const { sweeper, done } = sweeperWith({ failing: null, isDoubted: true })
  expect(await sweeper.findNextDue()).toBeNull()
  expect(await sweeper.sweep()).toEqual({ expired: 0, purged: 0, files: 0 })
  expect(done).toEqual([])
})
