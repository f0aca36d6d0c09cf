// Works that wait and go in batches.

import { expect, test } from 'bun:test'
import { createGathering } from '../../../src/store/postgres/pushes/gathering.ts'
import type { Waiting } from '../../../src/store/postgres/pushes/next-batch.ts'
import { createWorkQueue } from '../../../src/store/postgres/pushes/work-queue.ts'

type Work = Waiting & { name: string; done: () => void }

const LIMITS = { mostInBatch: 3, mostWeight: 100, mostAtOnce: 2, mostWaiting: 50, oneOfEachKey: false }

/** Batches end when the test says so. */
function openQueue(limits: Partial<typeof LIMITS> = {}) {
  const batches: {
    names: string[]
    within: number
    end: (again?: string[]) => void
    fail: (cause: unknown) => void
  }[] = []
  const refused: [string, unknown][] = []
  const done: string[] = []
  const queue = createWorkQueue<Work>({
    ...LIMITS,
    ...limits,
    run: (works, within) =>
      new Promise((resolve, reject) => {
        const end = (again: string[] = []) => {
          for (const work of works) if (!again.includes(work.name)) work.done()
          resolve(works.filter(({ name }) => again.includes(name)))
        }
        batches.push({ names: works.map(({ name }) => name), within, end, fail: reject })
      }),
  })
  const add = (name: string, { key = null, weight = 0, since = performance.now() }: Partial<Waiting> = {}) =>
    queue.add({
      ...{ name, key, weight, since, done: () => done.push(name) },
      reject: (cause) => refused.push([name, cause]),
    })
  // On a busy machine a timer may be due before what was begun by setImmediate.
  const turn = () => new Promise((resolve) => setTimeout(() => setImmediate(resolve), 1))
  return { queue, add, batches, refused, done, turn }
}

test('works of one turn go together, at most so many in a batch and so many batches at once', async () => {
  const { add, batches, turn } = openQueue()
  for (const name of 'abcdefgh') add(name)
  await turn()
  expect(batches.map(({ names }) => names.join(''))).toEqual(['abc', 'def'])
  batches[1]?.end()
  await turn()
  expect(batches.map(({ names }) => names.join(''))).toEqual(['abc', 'def', 'gh'])
})

test('works on the same thing never run in two batches at once, and keep their order', async () => {
  const { add, batches, turn } = openQueue()
  add('a', { key: 'one' })
  await turn()
  add('b', { key: 'one' })
  add('c', { key: 'other' })
  await turn()
  expect(batches.map(({ names }) => names.join(''))).toEqual(['a', 'c'])
  batches[0]?.end(['a'])
  await turn()
  expect(batches[2]?.names).toEqual(['a', 'b'])
})

test('heavy works go in several batches, and one that is too heavy goes alone', async () => {
  const { add, batches, turn } = openQueue({ mostAtOnce: 3 })
  add('a', { weight: 60 })
  add('b', { weight: 60 })
  add('c', { weight: 500 })
  await turn()
  expect(batches.map(({ names }) => names.join(''))).toEqual(['a', 'b', 'c'])
})

test('a batch that fails rejects its works, and the next ones go on', async () => {
  const { queue, add, batches, refused, done, turn } = openQueue()
  add('a')
  await turn()
  batches[0]?.fail(new Error('lost'))
  add('b')
  await turn()
  expect(refused).toEqual([['a', new Error('lost')]])
  const idle = queue.idle()
  batches[1]?.end()
  await idle
  expect(done).toEqual(['b'])
  expect(queue.count()).toBe(0)
})

test('works beyond the limit are refused at once', async () => {
  const { add, refused } = openQueue({ mostWaiting: 2 })
  for (const name of 'abc') add(name)
  expect(refused).toMatchObject([['c', { code: 'overloaded' }]])
})

test('a work that has waited for too long is refused, and the others have the time that the oldest has left', async () => {
  const { add, batches, refused, turn } = openQueue()
  const now = performance.now()
  add('a', { since: now - 60_000 })
  add('b', { since: now - 1_000 })
  add('c')
  await turn()
  expect(refused).toMatchObject([['a', { code: 'overloaded' }]])
  expect(batches[0]?.names).toEqual(['b', 'c'])
  expect(batches[0]?.within).toBeLessThanOrEqual(4_000)
})

const CROWD = Array.from({ length: 20 }, (_, n) => `first ${n}`)

/** A queue whose first batch of 20 works is under way, and which waits for works after it. */
async function openCrowded() {
  const opened = openQueue({ mostInBatch: 100 })
  for (const name of CROWD) opened.add(name)
  await opened.turn()
  opened.batches[0]?.end()
  await opened.turn()
  return opened
}

test('a work that comes alone goes at once, also when many came long before', async () => {
  const { add, batches } = await openCrowded()
  await Bun.sleep(10)
  add('alone')
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  expect(batches[1]?.names).toEqual(['alone'])
})

test('while many works come, few of them wait for the batch that is under way', async () => {
  const { add, batches, turn } = await openCrowded()
  for (const name of CROWD) add(name)
  await turn()
  // As if no time went by, however busy the machine is.
  const since = performance.now() + 60_000
  for (const name of 'ab') add(name, { since })
  await turn()
  expect(batches.length).toBe(2)
  batches[1]?.end()
  for (const name of 'cdefghijklmnopqrstuv') add(name)
  await turn()
  expect(batches[2]?.names.join('')).toBe('abcdefghijklmnopqrstuv')
})

test('works wait for more only as long as more can be expected, and never for long', () => {
  const gathering = createGathering()
  const few = { waiting: 5, since: 1000, isBusy: false }
  expect(gathering.left(few, 1000)).toBeLessThanOrEqual(0)
  gathering.ended(40, 1000)
  expect(gathering.left(few, 1001)).toBe(1)
  expect(gathering.left(few, 1002)).toBeLessThanOrEqual(0)
  expect(gathering.left({ ...few, waiting: 30 }, 1001)).toBeLessThanOrEqual(0)
  expect(gathering.left({ ...few, isBusy: true }, 1049)).toBe(1)
  expect(gathering.left({ ...few, isBusy: true }, 1050)).toBeLessThanOrEqual(0)
  gathering.ended(15, 1000)
  expect(gathering.left(few, 1001)).toBeLessThanOrEqual(0)
})

test('works on the same thing go in one batch, or in different ones where only one of each may', async () => {
  for (const [oneOfEachKey, expected] of [
    [false, ['abc']],
    [true, ['ac', 'b']],
  ] as const) {
    const { add, batches, turn } = openQueue({ oneOfEachKey })
    add('a', { key: 'one' })
    add('b', { key: 'one' })
    add('c', { key: 'other' })
    await turn()
    batches[0]?.end()
    await turn()
    expect(batches.map(({ names }) => names.join(''))).toEqual([...expected])
  }
})
