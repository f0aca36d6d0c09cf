// Where the files of a folder are: a start that would look for them elsewhere is refused, and nothing is lost by trying.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sealedSize } from '../../src/crypto/sealed-stream.ts'
import { HOUR } from '../../src/domain/time.ts'
import { openTestBucket, type TestBucket } from '../support/bucket.ts'
import { createTestClock, type TestClock } from '../support/instance.ts'
import { openTestStore, storePush, type TestStore, VISIT, view } from '../support/store.ts'

const SIZE = 5
const NAME = Buffer.from('name')

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

type Where = 'disk' | 'bucket'

async function open(where: Where): Promise<TestStore> {
  await opened?.store.close()
  opened = null
  opened = await openTestStore({ dataDir, clock, bucket: where === 'bucket' ? bucket.settings : null })
  return opened
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
  'a start beside the files of live pushes on the %s is refused until they are over',
  async (where) => {
    const store = await open(where)
    const push = await pushFile(store, 'aa1')
    await expect(open(other(where))).rejects.toThrow('A live push has its files')
    const again = await open(where)
    expect(await again.store.files.has({ id: 'aa1', size: SIZE })).toBe(true)
    await again.store.pushes.expirePush({ id: push.id, visit: VISIT })
    await again.store.files.removeDue()
    const moved = await open(other(where))
    await pushFile(moved, 'aa2')
    expect(await moved.store.files.has({ id: 'aa2', size: SIZE })).toBe(true)
  },
)

test('files that can still be downloaded after a last view keep their place too', async () => {
  const store = await open('disk')
  await view(store, await pushFile(store, 'aa1', { expireAfterViews: 1 }))
  await expect(open('bucket')).rejects.toThrow('can still be downloaded')
  clock.advance(HOUR)
  await open('bucket')
  expect(existsSync(join(dataDir, 'files', 'aa', 'aa1'))).toBe(false)
})

test('a restart finds its files in the bucket, and another bucket is refused', async () => {
  await pushFile(await open('bucket'), 'aa1')
  const again = await open('bucket')
  expect(await again.store.files.has({ id: 'aa1', size: SIZE })).toBe(true)
  await again.store.close()
  opened = null
  const place = { ...bucket.settings.place, prefix: 'elsewhere/' }
  const elsewhere = openTestStore({ dataDir, clock, bucket: { ...bucket.settings, place } })
  await expect(elsewhere).rejects.toThrow('lacks the files that the database names')
})
