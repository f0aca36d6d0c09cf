// The location of a folder's files: a start that would look for them elsewhere is refused, and trying it
// loses nothing.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sealedSize } from '../../../src/crypto/sealed-stream.ts'
import { HOUR } from '../../../src/domain/time.ts'
import type { BucketOptions } from '../../../src/store/s3/bucket.ts'
import { createClient } from '../../../src/store/s3/client.ts'
import { createObjects } from '../../../src/store/s3/objects.ts'
import { openTestBucket, type TestBucket } from '../../support/bucket.ts'
import { createTestClock, type TestClock } from '../../support/instance.ts'
import { openTestStore, storePush, type TestStore, VISIT, view } from '../../support/store.ts'

const SIZE = 5
const NAME = Buffer.from('name')
const LACKS = 'lacks them'

let bucket: TestBucket
beforeAll(async () => {
  bucket = await openTestBucket()
})
afterAll(() => bucket.close())

let dataDir: string
let clock: TestClock
let opened: TestStore | null
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'oncebox-place-'))
  clock = createTestClock()
})
afterEach(async () => {
  await opened?.store.close()
  opened = null
  rmSync(dataDir, { recursive: true, force: true })
})

type Where = 'disk' | 'bucket' | { prefix: string }

async function open(where: Where): Promise<TestStore> {
  await opened?.store.close()
  opened = null
  opened = await openTestStore({ dataDir, clock, bucket: where === 'disk' ? null : settingsOf(where) })
  return opened
}

function settingsOf(where: 'bucket' | { prefix: string }): BucketOptions {
  const { settings } = bucket
  return where === 'bucket' ? settings : { ...settings, place: { ...settings.place, ...where } }
}

async function* sealed() {
  yield Buffer.alloc(sealedSize(SIZE), 3)
}

async function pushFile(store: TestStore, id: string, changes: Parameters<typeof storePush>[1] = {}) {
  await store.store.files.keepFile(id, sealed())
  return storePush(store, changes, { files: [{ fileId: id, size: SIZE, filename: NAME, contentType: NAME }] })
}

const other = (where: Where): Where => (where === 'disk' ? 'bucket' : 'disk')

test.each<Where>(['disk', 'bucket'])(
  'a start with another location is refused while live pushes have files on the %s',
  async (where) => {
    const store = await open(where)
    const push = await pushFile(store, 'aa1')
    await expect(open(other(where))).rejects.toThrow('need their files in')
    const again = await open(where)
    expect(await again.store.files.has({ id: 'aa1', size: SIZE })).toBe(true)
    await again.store.pushes.expirePush({ id: push.id, visit: VISIT })
    await again.store.files.removeDue()
    const moved = await open(other(where))
    await pushFile(moved, 'aa2')
    expect(await moved.store.files.has({ id: 'aa2', size: SIZE })).toBe(true)
  },
)

test('files that can still be downloaded after a last view keep their location too', async () => {
  const store = await open('disk')
  await view(store, await pushFile(store, 'aa1', { expireAfterViews: 1 }))
  await expect(open('bucket')).rejects.toThrow(
    'downloads after a last view, need their files in the data folder',
  )
  clock.advance(HOUR)
  await (await open('disk')).store.files.removeDue()
  await open('bucket')
  expect(existsSync(join(dataDir, 'files', 'aa', 'aa1'))).toBe(false)
})

test('a restart finds its files in the bucket, and another bucket is refused', async () => {
  await pushFile(await open('bucket'), 'aa1')
  const again = await open('bucket')
  expect(await again.store.files.has({ id: 'aa1', size: SIZE })).toBe(true)
  await expect(open({ prefix: 'elsewhere/' })).rejects.toThrow(LACKS)
})

test('another bucket is accepted if it holds one of the needed files', async () => {
  await pushFile(await open({ prefix: 'old/' }), 'aa1')
  await pushFile(await open({ prefix: 'old/' }), 'aa2')
  await expect(open({ prefix: 'new/' })).rejects.toThrow(LACKS)
  const [key = ''] = bucket.listKeys().filter((key) => key.startsWith('old/') && key.endsWith('/aa1'))
  const content = Buffer.alloc(sealedSize(SIZE), 3)
  await createObjects(createClient({ ...bucket.settings, onChange: () => undefined }).send).put(
    key.replace('old/', 'new/'),
    content,
  )
  const moved = await open({ prefix: 'new/' })
  expect(await moved.store.files.has({ id: 'aa1', size: SIZE })).toBe(true)
  expect(await moved.store.files.has({ id: 'aa2', size: SIZE })).toBe(false)
  await expect(open({ prefix: 'old-too/' })).rejects.toThrow(LACKS)
})

test('a file in a bucket is removed with its push, even while a download reads it', async () => {
  const opened = await open({ prefix: 'read/' })
  const { store } = opened
  const push = await pushFile(opened, 'aa1')
  const file = await store.files.open('aa1')
  await store.pushes.expirePush({ id: push.id, visit: VISIT })
  await store.files.removeDue()
  expect(bucket.listKeys().filter((key) => key.endsWith('/aa1') && key.startsWith('read/'))).toEqual([])
  await file?.close()
})

test('a former prefix is refused like a new one while the current one has needed files', async () => {
  const [one, two] = [{ prefix: 'one/' }, { prefix: 'two/' }]
  const store = await open(one)
  const push = await pushFile(store, 'aa1')
  await expect(open(two)).rejects.toThrow(LACKS)
  const again = await open(one)
  await again.store.pushes.expirePush({ id: push.id, visit: VISIT })
  await open(two)
  const back = await open(one)
  await pushFile(back, 'aa2')
  await expect(open(two)).rejects.toThrow(LACKS)
  await expect(open(two)).rejects.toThrow(LACKS)
  expect(await (await open(one)).store.files.has({ id: 'aa2', size: SIZE })).toBe(true)
})

test('another prefix is refused while a file can still be downloaded after a last view', async () => {
  const store = await open({ prefix: 'three/' })
  await view(store, await pushFile(store, 'aa1', { expireAfterViews: 1 }))
  await expect(open({ prefix: 'four/' })).rejects.toThrow(LACKS)
  clock.advance(HOUR)
  await (await open({ prefix: 'three/' })).store.files.removeDue()
  await open({ prefix: 'four/' })
})

test('a bucket that lost its files stays the location, after several starts', async () => {
  await pushFile(await open('bucket'), 'aa1')
  for (const key of bucket.listKeys()) if (key.endsWith('/aa1')) bucket.remove(key)
  for (const _ of [1, 2, 3])
    expect(await (await open('bucket')).store.files.has({ id: 'aa1', size: SIZE })).toBe(false)
})
