// Whether nodes of another database still write what a bucket remembers.

import { expect, test } from 'bun:test'
import { createWriterWatch, type SeenWitness } from '../../src/store/witness/other-writer.ts'
import type { SavedWitness } from '../../src/store/witness/saved-witness.ts'

const OTHER = 'aa'.repeat(16)
const OURS = 'bb'.repeat(16)
const EVERY = 200

function witness(changes: Partial<SavedWitness>): SavedWitness {
  const place = { tag: 't', beats: 1, restoredAt: 0, place: null, operations: [], isFinal: false }
  return { ...place, savedAt: 1, node: OTHER, ...changes }
}

/** The bucket says one after the other, and then the last for ever. */
function watch(says: (SeenWitness | null)[], { isTaken = false } = {}) {
  const waits: number[] = []
  let asked = 0
  const watching = createWriterWatch({
    look: async () => {
      asked += 1
      return (says.length > 1 ? says.shift() : says[0]) ?? null
    },
    isTaken: () => isTaken,
    isOurs: async (node) => node === OURS,
    isFresh: ({ savedAt }) => savedAt > 0,
    writtenEvery: EVERY,
    lookEvery: 5,
    onWait: (left) => waits.push(left),
  })
  return { ...watching, waits, asked: () => asked }
}

const fresh = (changes: Partial<SavedWitness>, age = 0): SeenWitness => ({ witness: witness(changes), age })

test('a bucket in which a node goes on writing is used by another database', async () => {
  const { wait, waits } = watch([fresh({}), fresh({}), fresh({ beats: 2, savedAt: 2 })])
  expect(await wait()).toMatchObject({ beats: 2, node: OTHER })
  expect(waits.every((left) => left > 0 && left <= EVERY)).toBe(true)
})

test('a bucket in which nobody wrote for long is free at once, and also one whose nodes have stopped in order', async () => {
  for (const seen of [null, fresh({}, EVERY), fresh({ isFinal: true }), fresh({ node: null })]) {
    const { wait, asked } = watch([seen])
    expect([await wait(), asked()]).toEqual([null, 1])
  }
})

test('a bucket in which a node may still write is looked at until that node must have written', async () => {
  const { wait, waits } = watch([fresh({}, EVERY / 2)])
  const began = performance.now()
  expect(await wait()).toBeNull()
  expect(performance.now() - began).toBeGreaterThanOrEqual(EVERY / 2 - 5)
  expect(waits[0]).toBeLessThanOrEqual(EVERY / 2)
})

test('a folder that a node has just taken is looked at until that node must have written', async () => {
  const written = fresh({ beats: 2, savedAt: 2 })
  for (const before of [null, fresh({ isFinal: true }), fresh({ node: null })]) {
    expect(await watch([before, before, written], { isTaken: true }).wait()).toMatchObject({ beats: 2 })
    expect(await watch([before], { isTaken: true }).wait()).toBeNull()
  }
})

test('nodes of this database may write', async () => {
  expect(
    await watch([fresh({}), fresh({ node: OURS, beats: 2 }), fresh({ node: OURS, beats: 3 })]).wait(),
  ).toBeNull()
})

test('what is written while somebody is asked is noticed before anything is changed', async () => {
  const { wait, glance } = watch([fresh({}, EVERY), fresh({}, EVERY), fresh({ beats: 9 })])
  expect(await wait()).toBeNull()
  expect(await glance()).toBeNull()
  expect(await glance()).toMatchObject({ beats: 9 })
})

test('an old witness that somebody brings back does not tell of a node that lives', async () => {
  const old = fresh({ beats: 0, savedAt: 0 })
  expect(await watch([fresh({}), old, fresh({}), old]).wait()).toBeNull()
})

test('what no node has written hides none: one that lives is waited for', async () => {
  const forged = { witness: null, age: 0 }
  const { wait, asked } = watch([forged])
  expect(await wait()).toBeNull()
  expect(asked()).toBeGreaterThan(1)
  expect(await watch([forged, forged, fresh({})]).wait()).toMatchObject({ node: OTHER })
})
