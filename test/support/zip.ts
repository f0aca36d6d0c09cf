// Reads ZIP archives for the tests (APPNOTE 6.3.10), including ZIP64. Refuses whatever an unpacker would
// refuse.

import { crc32 } from 'node:zlib'

export type ZipEntry = { name: string; content: Buffer; method: number; flags: number }

const END = 0x06054b50
const END_64 = 0x06064b50
const ENTRY = 0x02014b50
const FULL = 0xffffffff

/** Reads the entries. Throws if the archive has no end, or if an entry does not match its checksum. */
export function readZip(bytes: Buffer): ZipEntry[] {
  const end = bytes.length - 22
  if (end < 0 || bytes.readUInt32LE(end) !== END) throw new Error('an archive without an end')
  const entries: ZipEntry[] = []
  let at = bytes.readUInt32LE(end + 16)
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (bytes.readUInt32LE(at) !== ENTRY) throw new Error('an archive without an entry where one should be')
    const [nameLength, extraLength] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30)]
    const start = contentStart(bytes, bytes.readUInt32LE(at + 42))
    const content = bytes.subarray(start, start + bytes.readUInt32LE(at + 24))
    if (crc32(content) !== bytes.readUInt32LE(at + 16)) throw new Error('an entry with a wrong checksum')
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength)
    entries.push({ name, content, method: bytes.readUInt16LE(at + 10), flags: bytes.readUInt16LE(at + 8) })
    at += 46 + nameLength + extraLength + bytes.readUInt16LE(at + 32)
  }
  return entries
}

function contentStart(bytes: Buffer, header: number): number {
  return header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28)
}

/**
 * Reads the last bytes of an archive beyond 4 GiB: where its directory begins, and the sizes of its entries.
 */
export function readZip64Tail(tail: Buffer, length: number): { directoryAt: number; sizes: number[] } {
  const end = tail.length - 22
  if (tail.readUInt32LE(end + 16) !== FULL) throw new Error('an archive without ZIP64')
  const end64 = tail.length - 22 - 20 - 56
  if (tail.readUInt32LE(end64) !== END_64) throw new Error('an archive without an end for ZIP64')
  const directoryAt = Number(tail.readBigUInt64LE(end64 + 48))
  let at = directoryAt - (length - tail.length)
  const sizes: number[] = []
  while (tail.readUInt32LE(at) === ENTRY) {
    const [nameLength, extraLength] = [tail.readUInt16LE(at + 28), tail.readUInt16LE(at + 30)]
    const short = tail.readUInt32LE(at + 24)
    sizes.push(short === FULL ? Number(tail.readBigUInt64LE(at + 46 + nameLength + 4)) : short)
    at += 46 + nameLength + extraLength
  }
  return { directoryAt, sizes }
}
