// Tests how long grants work by the clocks of several nodes, and when a deletion aborts a download.

import { expect, test } from 'bun:test'
import { SEGMENT_BYTES, sealStream } from '../../src/crypto/sealed-stream.ts'
import { EMPTY_COUNTS } from '../../src/domain/audit.ts'
import { DamageError } from '../../src/domain/errors.ts'
import { grantLifetime } from '../../src/domain/files.ts'
import { MINUTE, SECOND } from '../../src/domain/time.ts'
import { createDownloads } from '../../src/pushes/downloads.ts'
import { createGrantedFiles } from '../../src/pushes/granted-files.ts'
import type { StoredPush } from '../../src/store/pushes-contract.ts'
import { examplePush, openTestStore } from '../support/store.ts'

test('a grant works on a node whose clock is slightly behind that of the granting node', async () => {
  const { store, clock, close } = await openTestStore()
  const { keyring } = store
  const downloads = createDownloads({
    ...{ store, keyring, now: clock.now, elapsed: clock.now, lookEvery: 0 },
    relieve: async () => undefined,
  })
  const size = 1
  const open = (left: number) => {
    const push = {
      ...examplePush(clock.now()),
      ...EMPTY_COUNTS,
      id: 1,
      lookup: Buffer.alloc(16),
      keyNumber: 1,
      files: 1,
    }
    const files = [{ id: 'a', filename: 'a', size, contentType: 'text/plain' }]
    const viewedAt = clock.now() + left - grantLifetime(size)
    const { files: granted } = downloads.grantAll({ push, dataKey: Buffer.alloc(32), files, viewedAt })
    return downloads.open(granted[0]!.grant)
  }
  // The grant is valid, but there is no such push.
  await expect(open(grantLifetime(size))).rejects.toMatchObject({ code: 'not_found' })
  await expect(open(grantLifetime(size) + SECOND)).rejects.toMatchObject({ code: 'not_found' })
  await expect(open(grantLifetime(size) + 2 * MINUTE)).rejects.toMatchObject({ code: 'forbidden' })
  await expect(open(0)).rejects.toMatchObject({ code: 'forbidden' })
  await close()
})

test.each([
  ['a database server is asked four times a second', 250, 4],
  ['SQLite is asked before each segment', 0, 16],
])('while a file is read, %s whether its push was deleted', async (_, lookEvery, most) => {
  const { store, clock, close } = await openTestStore()
  const key = Buffer.alloc(32)
  const size = 16 * SEGMENT_BYTES
  async function* content() {
    yield Buffer.alloc(size)
  }
  const bytes = Buffer.concat(await Array.fromAsync(sealStream(content(), { id: 'a', key })))
  const read = async ({ start, length }: { start: number; length: number }) =>
    bytes.subarray(start, start + length)
  let [looks, deleted, time] = [0, false, 0]
  const findPush = async () => {
    looks += 1
    return { ...examplePush(clock.now()), id: 1, deleted } as StoredPush
  }
  const { openFile } = createGrantedFiles({
    store: {
      ...store,
      pushes: { ...store.pushes, findPush },
      files: { ...store.files, open: async () => ({ size: bytes.length, read, close: async () => {} }) },
    },
    ...{ now: clock.now, elapsed: () => time, lookEvery, relieve: () => undefined },
  })
  const file = await openFile({ push: '00', file: 'a', key: key.toString('base64'), size })
  looks = 0
  const reading = file.read({ start: 0, end: size })
  for (let segment = 0; segment < 15; segment += 1, time += 1000 / 16) await reading.next()
  expect(looks).toBeWithin(most - 1, most + 1)
  deleted = true
  time += lookEvery
  await expect(reading.next()).rejects.toMatchObject({ code: 'not_found' })
  await close()
})

test.each([
  ['an expired push ends the download', 1, 'not_found'],
  ['a live push is damage, which is reported', null, 'DamageError'],
])('a file that vanishes from a bucket during a download of %s', async (_, expiredOn, expected) => {
  const { store, clock, close } = await openTestStore()
  const key = Buffer.alloc(32)
  const size = 2 * SEGMENT_BYTES
  async function* content() {
    yield Buffer.alloc(size)
  }
  let bytes: Buffer = Buffer.concat(await Array.fromAsync(sealStream(content(), { id: 'a', key })))
  const length = bytes.length
  const { openFile } = createGrantedFiles({
    store: {
      ...store,
      pushes: {
        ...store.pushes,
        findPush: async () =>
          ({ ...examplePush(clock.now()), id: 1, deleted: false, expiredOn }) as StoredPush,
      },
      files: {
        ...store.files,
        open: async () => ({
          size: length,
          read: async ({ start, length }) => bytes.subarray(start, start + length),
          close: async () => {},
        }),
      },
    },
    ...{ now: clock.now, elapsed: () => 0, lookEvery: 0, relieve: () => undefined },
  })
  const file = await openFile({ push: '00', file: 'a', key: key.toString('base64'), size })
  const reading = file.read({ start: 0, end: size })
  await reading.next()
  // The window of the bucket ends within the next segment.
  bytes = bytes.subarray(0, SEGMENT_BYTES + 1000)
  const failure = await reading.next().catch((cause) => cause)
  expect(failure instanceof DamageError ? 'DamageError' : failure.code).toBe(expected)
  expect(store.damage.count()).toBe(expiredOn === null ? 1 : 0)
  await close()
})
