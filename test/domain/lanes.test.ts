// Work on many items, a few at a time.

import { expect, test } from 'bun:test'
import { inLanes } from '../../src/domain/lanes.ts'

test('as many run at once as there are lanes, and each item is worked on once', async () => {
  const done: number[] = []
  let [running, most] = [0, 0]
  await inLanes(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    running += 1
    most = Math.max(most, running)
    await Bun.sleep(1)
    running -= 1
    done.push(item)
  })
  expect(most).toBe(3)
  expect(done.sort()).toEqual([1, 2, 3, 4, 5, 6, 7])
})

test('what failed first is thrown when nothing runs any more, and no other item is begun', async () => {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const begun: number[] = []
  let isOver = false
  async function* items() {
    yield* [1, 2, 3, 4, 5]
  }
  const all = inLanes(2, items(), async (item) => {
    begun.push(item)
    if (item === 1) throw new Error('the first')
    await late
  }).finally(() => {
    isOver = true
  })
  await Bun.sleep(5)
  expect(isOver).toBe(false)
  resolve()
  await expect(all).rejects.toThrow('the first')
  expect(begun).toEqual([1, 2])
})

test('what the source throws is thrown', async () => {
  async function* items() {
    yield 1
    throw new Error('no more')
  }
  await expect(inLanes(2, items(), async () => undefined)).rejects.toThrow('no more')
})
