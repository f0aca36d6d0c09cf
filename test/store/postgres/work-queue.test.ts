// Works that wait and go in batches.

import { expect, test } from 'bun:test'
import { createWorkQueue, type Waiting } from '../../../src/store/postgres/pushes/work-queue.ts'

type Work = Waiting & { name: string; done: () => void }

const LIMITS = { mostInBatch: 3, mostWeight: 100, mostAtOnce: 2, mostWaiting: 50 }

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
  const turn = () => new Promise((resolve) => setTimeout(resolve, 1))
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
