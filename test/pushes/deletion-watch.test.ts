// How often the database is asked whether a push was deleted while its files are read.

import { beforeEach, expect, test } from 'bun:test'
import { DomainError } from '../../src/domain/errors.ts'
import { createDeletionWatch } from '../../src/pushes/deletion-watch.ts'
import type { StoredPush } from '../../src/store/face.ts'

const LOOK_EVERY_MS = 250

let looks: string[]
let time: number
let deleted: Set<string>
let watch: ReturnType<typeof createDeletionWatch>
beforeEach(() => {
  looks = []
  time = 1000
  deleted = new Set()
  const find = async (lookup: string) => {
    looks.push(lookup)
    if (deleted.has(lookup)) throw new DomainError('not_found', 'not-found')
    return { id: 1 } as StoredPush
  }
  watch = createDeletionWatch({ find, elapsed: () => time, lookEvery: LOOK_EVERY_MS })
})

test('a gigabyte in a second costs a few looks, not one for each segment', async () => {
  const following = watch.follow('aa')
  await following.lookNow()
  for (let segment = 0; segment < 4096; segment += 1) {
    await following.look()
    time += 1000 / 4096
  }
  expect(looks.length).toBeLessThanOrEqual(Math.ceil(1000 / LOOK_EVERY_MS))
})

test('readers of one push share their looks, and each push has its own', async () => {
  const [one, other, apart] = [watch.follow('aa'), watch.follow('aa'), watch.follow('bb')]
  await Promise.all([one.look(), other.look(), apart.look()])
  await Promise.all([one.look(), other.look(), apart.look()])
  expect(looks).toEqual(['aa', 'bb'])
})

test('a deletion ends every reading after the next look, and refuses a new reading at once', async () => {
  const [one, other] = [watch.follow('aa'), watch.follow('aa')]
  await one.lookNow()
  deleted.add('aa')
  await other.look()
  time += LOOK_EVERY_MS
  for (const reader of [one, other]) await expect(reader.look()).rejects.toThrow('not-found')
  deleted.clear()
  await watch.follow('aa').lookNow()
  deleted.add('aa')
  await expect(watch.follow('aa').lookNow()).rejects.toThrow('not-found')
})

test('without a pause between looks, a deletion ends a reading at its next segment', async () => {
  const find = async () => {
    if (deleted.has('aa')) throw new DomainError('not_found', 'not-found')
    return { id: 1 } as StoredPush
  }
  const reading = createDeletionWatch({ find, elapsed: () => time, lookEvery: 0 }).follow('aa')
  await reading.look()
  deleted.add('aa')
  await expect(reading.look()).rejects.toThrow('not-found')
})

test('nothing is kept of a push that nobody reads any more', () => {
  const [one, other] = [watch.follow('aa'), watch.follow('aa')]
  one.end()
  one.end()
  expect(watch.count()).toBe(1)
  other.end()
  expect(watch.count()).toBe(0)
})
