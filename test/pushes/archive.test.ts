// Archives: stored entries in order, of the announced size, and without an end after an error.

import { expect, test } from 'bun:test'
import { type ArchiveEntry, archiveSize, readArchive } from '../../src/pushes/archive.ts'
import { readZip } from '../support/zip.ts'

const MIB = 1024 * 1024
const CHANGED_AT = Date.UTC(2026, 10, 27, 14, 5)

const entry = (filename: string, size: number, content: () => AsyncGenerator<Uint8Array>): ArchiveEntry => ({
  filename,
  size,
  content: { read: content, close: async () => undefined },
})

const ofText = (filename: string, text: string) =>
  entry(filename, Buffer.byteLength(text), async function* () {
    yield Buffer.from(text)
  })

async function readAll(entries: ArchiveEntry[]): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of readArchive(entries, CHANGED_AT)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

test('files are stored under UTF-8 names, and the size is known in advance', async () => {
  const entries = [ofText('ä 日本.txt', 'hello'), ofText('empty', ''), ofText('b', 'x'.repeat(3 * MIB))]
  const archive = await readAll(entries)
  expect(archive).toHaveLength(archiveSize(entries))
  expect(readZip(archive)).toEqual([
    // Bit 3: a data descriptor; bit 11: UTF-8.
    { name: 'ä 日本.txt', content: Buffer.from('hello'), method: 0, flags: 0x0808 },
    { name: 'empty', content: Buffer.alloc(0), method: 0, flags: 0x0808 },
    { name: 'b', content: Buffer.alloc(3 * MIB, 'x'), method: 0, flags: 0x0808 },
  ])
  expect((await readAll(entries)).equals(archive)).toBe(true)
})

test('an entry that cannot be read to its end aborts the archive', async () => {
  const broken = entry('b', 10, async function* () {
    yield Buffer.from('12345')
    throw new Error('altered')
  })
  const chunks: Uint8Array[] = []
  const read = async () => {
    for await (const chunk of readArchive([ofText('a', 'x'), broken], CHANGED_AT)) chunks.push(chunk)
  }
  await expect(read()).rejects.toThrow('altered')
  expect(() => readZip(Buffer.concat(chunks))).toThrow()
})

test('reads no more than the client takes', async () => {
  let read = 0
  const large = entry('large', 100 * MIB, async function* () {
    for (; read < 100; read += 1) yield Buffer.alloc(MIB)
  })
  const archive = readArchive([large], CHANGED_AT)
  for (let n = 0; n < 5; n += 1) await archive.next()
  await Bun.sleep(20)
  expect(read).toBeLessThan(10)
  await archive.return(undefined)
})

test.each([
  ['small files', [1, 0, 70_000]],
  ['a file of more than 4 GiB', [5 * 2 ** 30, 1]],
  ['files behind more than 4 GiB', [3 * 2 ** 30, 3 * 2 ** 30, 7]],
  ['files on both sides of the limit', [0xffff_fffe, 0xffff_ffff, 0x1_0000_0000, 1]],
  ['no files', []],
])('the size of %s is the one that the library predicts', async (_, sizes) => {
  const { predictLength } = await import('client-zip')
  const files = sizes.map((size, at) => ({ filename: `ä-${at}.bin`, size }))
  expect(BigInt(archiveSize(files))).toBe(
    predictLength(files.map(({ filename, size }) => ({ name: filename, size }))),
  )
})
