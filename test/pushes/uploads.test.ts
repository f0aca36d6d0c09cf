// Uploads count files as they begin: a file beyond the limit is refused before a byte of it is read.

import { beforeEach, expect, test } from 'bun:test'
import { DomainError } from '../../src/domain/errors.ts'
import { createUploads, type Uploads } from '../../src/pushes/uploads.ts'

const MAX_FILES = 3
const FILE_BYTES = 100

let kept: Map<string, number>
let uploads: Uploads
/** The number of checks of the free space. */
let roomAsked: number
beforeEach(() => {
  kept = new Map()
  roomAsked = 0
  const files = {
    keepFile: async (id: string, content: AsyncIterable<Uint8Array>) => {
      kept.set(id, 0)
      for await (const chunk of content) kept.set(id, (kept.get(id) ?? 0) + chunk.length)
    },
    giveUpFile: async (id: string) => void kept.delete(id),
  }
  uploads = uploadsWith({ store: { files, freeSpace }, fileBytes: FILE_BYTES })
})

const freeSpace = {
  require: async () => {
    roomAsked += 1
  },
}

function uploadsWith({ store, fileBytes }: { store: object; fileBytes: number }): Uploads {
  const limits = { files: MAX_FILES, fileBytes }
  return createUploads({ store, limits, relieve: () => undefined } as never)
}

function file(bytes: number, seen: number[] = []) {
  async function* content() {
    seen.push(bytes)
    yield new Uint8Array(bytes)
  }
  return { filename: 'a.txt', contentType: 'text/plain', content: content() }
}

const problemsOf = (cause: unknown) => (cause instanceof DomainError ? cause.details.problems : cause)

test('files up to the limit are stored, and the next is refused unread', async () => {
  const upload = uploads.begin()
  for (let n = 0; n < MAX_FILES; n += 1) await upload.add(file(FILE_BYTES))
  const read: number[] = []
  const refused = await upload.add(file(1, read)).catch(problemsOf)
  expect(refused).toEqual({ files: [{ code: 'too_many_files', limit: MAX_FILES }] })
  expect([read, kept.size, upload.listFiles().length]).toEqual([[], MAX_FILES, MAX_FILES])
})

test('files that arrive concurrently count together', async () => {
  const upload = uploads.begin()
  const added = await Promise.allSettled(Array.from({ length: 5 }, () => upload.add(file(1))))
  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_FILES)
})

test('a file of exactly the limit is stored; one byte more is refused', async () => {
  await uploads.begin().add(file(FILE_BYTES))
  const larger = uploads.begin().add(file(FILE_BYTES + 1))
  await expect(larger).rejects.toMatchObject({ code: 'too_large', details: { limit: { bytes: FILE_BYTES } } })
})

test('a name of 255 characters is accepted; a longer one is refused before the file is read', async () => {
  const upload = uploads.begin()
  await upload.add({ ...file(1), filename: 'n'.repeat(255) })
  const read: number[] = []
  const refused = await upload.add({ ...file(1, read), filename: 'n'.repeat(256) }).catch(problemsOf)
  expect(refused).toMatchObject({ files: [{ code: 'filename_too_long' }] })
  expect(read).toEqual([])
})

test('a discarded upload leaves no file', async () => {
  const upload = uploads.begin()
  await upload.add(file(1))
  await upload.discard()
  expect(kept.size).toBe(0)
})

test('fingerprints are computed on demand, also of files that are only compared', async () => {
  const sha256 = new Bun.CryptoHasher('sha256').update(new Uint8Array(5)).digest('hex')
  const print = { filename: 'a.txt', contentType: 'text/plain', size: 5 }
  const plain = uploads.begin()
  await plain.add(file(5))
  expect(plain.listPrints()).toEqual([{ ...print, sha256: '' }])
  const compared = uploads.begin({ isFingerprinted: true })
  compared.compareOnly()
  await compared.add(file(5))
  expect(compared.listPrints()).toEqual([{ ...print, sha256 }])
  expect(kept.size).toBe(1)
  await compared.discard()
  expect(kept.size).toBe(1)
})

test('the free space is checked before the first byte, and again after each 16 MiB', async () => {
  const files = {
    keepFile: async (_: string, content: AsyncIterable<Uint8Array>) => {
      for await (const _ of content);
    },
  }
  const large = uploadsWith({ store: { files, freeSpace }, fileBytes: 1024 ** 3 })
  const half = new Uint8Array(8 * 1024 * 1024)
  const askedFor = async (chunks: Uint8Array[], { isCompared = false } = {}) => {
    roomAsked = 0
    async function* content() {
      yield* chunks
    }
    const upload = large.begin()
    if (isCompared) upload.compareOnly()
    await upload.add({ filename: 'a.bin', contentType: '', content: content() })
    return roomAsked
  }
  expect([await askedFor([]), await askedFor([half, half])]).toEqual([1, 1])
  const byte = new Uint8Array(1)
  expect(await askedFor([half, half, byte])).toBe(2)
  expect(await askedFor([half, half, byte, half, half])).toBe(2)
  expect(await askedFor([half, half, byte, half, half, byte])).toBe(3)
  expect(await askedFor([half, half, half], { isCompared: true })).toBe(0)
})
