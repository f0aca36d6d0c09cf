// An archive of more than 4 GiB, which takes seconds to read.

import { expect, test } from 'bun:test'
import { type ArchiveEntry, archiveSize, readArchive } from '../../src/pushes/archive.ts'
import { readZip64Tail } from '../support/zip.ts'

const MIB = 1024 * 1024
const CHANGED_AT = Date.UTC(2026, 10, 27, 14, 5)

/** Yields that many zeros, without keeping them in memory. */
const zeros = (filename: string, size: number): ArchiveEntry => ({
  filename,
  size,
  content: {
    read: async function* () {
      const chunk = Buffer.alloc(MIB)
      for (let left = size; left > 0; left -= MIB) yield chunk.subarray(0, Math.min(left, MIB))
    },
    close: async () => undefined,
  },
})

test('an archive of more than 4 GiB uses ZIP64', async () => {
  const size = 4 * 1024 * MIB + 1
  const entries = [zeros('large', size), zeros('behind it', 1)]
  let [length, tail] = [0, Buffer.alloc(0)]
  for await (const chunk of readArchive(entries, CHANGED_AT)) {
    length += chunk.length
    tail = Buffer.concat([tail, chunk.subarray(-1024)]).subarray(-1024)
  }
  expect(length).toBe(archiveSize(entries))
  expect(readZip64Tail(tail, length).sizes).toEqual([size, 1])
}, 300_000)
