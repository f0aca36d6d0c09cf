// A ZIP of one file, which hides the file's name inside its encryption (APPNOTE 6.3.10). Written stored; read
// stored or deflated. Streams in both directions, in the browser too.

import { makeZip } from 'client-zip'
import { joined, piecesOf, streamOf } from './streams.ts'

/** `at`: the time of the file, in milliseconds since 1970. `comment`: ASCII. */
type FileToZip = {
  name: string
  content: AsyncIterable<Uint8Array>
  at: number
  comment: string | null
}

export function zipFile({ name, content, at, comment }: FileToZip): ReadableStream<Uint8Array> {
  const zip = makeZip([{ name, lastModified: new Date(at), input: streamOf(content) }])
  return comment === null ? zip : streamOf(withComment(zip, comment))
}

/** Replaces the empty comment, whose length is the last two bytes. */
async function* withComment(zip: ReadableStream<Uint8Array>, comment: string): AsyncGenerator<Uint8Array> {
  let last: Uint8Array = new Uint8Array()
  for await (const piece of piecesOf(zip)) {
    const held = joined([last, piece])
    const end = Math.max(0, held.length - 2)
    if (end > 0) yield held.subarray(0, end)
    last = held.slice(end)
  }
  yield new Uint8Array([comment.length, 0])
  yield new TextEncoder().encode(comment)
}

type ZippedFile = { name: string; comment: string; size: number }

/** Thrown if the data is not one complete ZIP with exactly one file. */
class UnfitZip extends Error {}

type ReadOptions = {
  /** The most bytes that the content may have. */
  maxBytes: number
  /** Receives the name before the content has been checked: the file may still turn out to be damaged. */
  begin?: ((name: string) => Promise<void> | void) | undefined
  /** Receives content that is not yet checked: do not use it before `unzipFile` resolves. */
  write: (bytes: Uint8Array) => Promise<void> | void
}

/** Resolves once the whole ZIP has been checked. Throws UnfitZip. */
export async function unzipFile(
  zip: AsyncIterable<Uint8Array>,
  { maxBytes, begin, write }: ReadOptions,
): Promise<ZippedFile> {
  const parts: ZipParts = { local: null, tail: null, compressed: 0 }
  const data = readData(zip, parts)
  let size = 0
  let crc = 0
  const take = async (bytes: Uint8Array) => {
    size += bytes.length
    if (size > maxBytes) throw new UnfitZip(`its content has more than ${maxBytes} bytes`)
    crc = crc32(bytes, crc)
    await write(bytes)
  }
  try {
    const { value: first = new Uint8Array() } = await data.next()
    await begin?.(parts.local?.name ?? '')
    if (parts.local?.isDeflated) await inflate(first, data, take)
    else {
      await take(first)
      for await (const bytes of data) await take(bytes)
    }
  } finally {
    await data.return(undefined)
  }
  const { local, tail, compressed } = parts
  if (local === null || tail === null || !isSame(local, tail)) throw unfit()
  if (tail.size !== size || tail.crc !== crc || tail.compressed !== compressed) throw unfit()
  return { name: local.name, comment: tail.comment, size }
}

async function inflate(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
  take: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  async function* all() {
    yield first
    yield* rest
  }
  const inflated = streamOf(all()).pipeThrough(new DecompressionStream('deflate-raw'))
  try {
    for await (const bytes of piecesOf(inflated)) await take(bytes)
  } catch (cause) {
    throw cause instanceof TypeError ? unfit() : cause
  }
}

type Entry = { name: string; isDeflated: boolean }
type Tail = Entry & { crc: number; compressed: number; size: number; comment: string; bytes: number }
type ZipParts = { local: Entry | null; tail: Tail | null; compressed: number }

/** Sizes of the parts without names and comments, and their signatures. */
const LOCAL = { bytes: 30, signature: 0x04034b50 }
const LISTED = { bytes: 46, signature: 0x02014b50 }
const END = { bytes: 22, signature: 0x06054b50 }
/** The end of a large archive has two more parts, of 56 and 20 bytes. */
const LARGE_END = { bytes: 76, signature: 0x06064b50 }
const LARGE = 0xffff_ffff
const ZIP64 = 1
/** The flag that says that the sizes follow the data, and the lengths that such a trailer can have. */
const SIZES_FOLLOW = 1 << 3
const ENCRYPTED = 1
const DESCRIPTORS = [12, 16, 20, 24]
/** An upper bound on the parts after the data: four texts of 64 KiB, and the fields of fixed size. */
const MAX_TAIL_BYTES = 2 ** 18 + 2 ** 10
/** Bytes that are gathered before they are joined. */
const GATHERED_BYTES = 2 ** 20

/** Yields the data of the only entry, still compressed. Fills `parts`: `local` before the first piece. */
async function* readData(zip: AsyncIterable<Uint8Array>, parts: ZipParts): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = []
  let length = 0
  let follows = false
  const begin = (bytes: Uint8Array) => {
    const header = readLocal(bytes)
    parts.local = header
    follows = header.follows
    return bytes.subarray(header.bytes)
  }
  for await (const piece of zip) {
    held.push(piece)
    length += piece.length
    if (length < GATHERED_BYTES) continue
    const whole = joined(held)
    const bytes = parts.local === null ? begin(whole) : whole
    const data = bytes.subarray(0, Math.max(0, bytes.length - MAX_TAIL_BYTES))
    parts.compressed += data.length
    yield data
    held = [bytes.slice(data.length)]
    length = held[0]?.length ?? 0
  }
  const whole = joined(held)
  const bytes = parts.local === null ? begin(whole) : whole
  const tail = readTail(bytes)
  const rest = tail.compressed - parts.compressed
  const after = bytes.length - tail.bytes - rest
  if (rest < 0 || !(follows ? DESCRIPTORS.includes(after) : after === 0)) throw unfit()
  parts.tail = tail
  parts.compressed += rest
  yield bytes.subarray(0, rest)
}

function readLocal(zip: Uint8Array): Entry & { follows: boolean; bytes: number } {
  const view = viewOf(zip)
  if (zip.length < LOCAL.bytes || view.getUint32(0, true) !== LOCAL.signature) throw unfit()
  const flags = view.getUint16(6, true)
  const nameEnd = LOCAL.bytes + view.getUint16(26, true)
  const bytes = nameEnd + view.getUint16(28, true)
  if ((flags & ENCRYPTED) !== 0 || bytes > zip.length) throw unfit()
  const name = textIn(zip.subarray(LOCAL.bytes, nameEnd))
  return { name, isDeflated: methodOf(view.getUint16(8, true)), follows: (flags & SIZES_FOLLOW) !== 0, bytes }
}

function methodOf(method: number): boolean {
  if (method !== 0 && method !== 8) throw unfit()
  return method === 8
}

/** Reads the entry and the comment from the `bytes` that follow the data. */
function readTail(zip: Uint8Array): Tail {
  const view = viewOf(zip)
  const end = endIn(view)
  const large = end - LARGE_END.bytes
  const hasLargeEnd = large >= 0 && view.getUint32(large, true) === LARGE_END.signature
  const entries = view.getUint16(end + 10, true)
  const listedBytes = view.getUint32(end + 12, true)
  const listed = (hasLargeEnd ? large : end) - listedBytes
  if (entries !== 1 || listedBytes < LISTED.bytes || listed < 0) throw unfit()
  if (view.getUint32(listed, true) !== LISTED.signature) throw unfit()
  const nameEnd = listed + LISTED.bytes + view.getUint16(listed + 28, true)
  const extraEnd = nameEnd + view.getUint16(listed + 30, true)
  // If the list is longer, there is another entry.
  if (extraEnd + view.getUint16(listed + 32, true) !== listed + listedBytes) throw unfit()
  const large64 = largeSizes(viewOf(zip.subarray(nameEnd, extraEnd)))
  const sizeAt = (at: number) => {
    const size = view.getUint32(listed + at, true)
    return size === LARGE ? large64() : size
  }
  const [size, compressed] = [sizeAt(24), sizeAt(20)]
  return {
    name: textIn(zip.subarray(listed + LISTED.bytes, nameEnd)),
    isDeflated: methodOf(view.getUint16(listed + 10, true)),
    crc: view.getUint32(listed + 16, true),
    ...{ size, compressed, bytes: zip.length - listed },
    comment: textIn(zip.subarray(end + END.bytes)),
  }
}

/** Finds the last part, which a comment of known length follows. */
function endIn(view: DataView): number {
  for (let end = view.byteLength - END.bytes; end >= 0; end -= 1) {
    const isEnd = view.getUint32(end, true) === END.signature
    if (isEnd && end + END.bytes + view.getUint16(end + 20, true) === view.byteLength) return end
  }
  throw unfit()
}

/** Returns a function that reads one large size after another from the extra field of ZIP64. */
function largeSizes(extra: DataView): () => number {
  let at = 0
  while (at + 4 <= extra.byteLength && extra.getUint16(at, true) !== ZIP64)
    at += 4 + extra.getUint16(at + 2, true)
  return () => {
    const from = at + 4
    at += 8
    if (from + 8 > extra.byteLength) throw unfit()
    return Number(extra.getBigUint64(from, true))
  }
}

function isSame(one: Entry, other: Entry): boolean {
  return one.name === other.name && one.isDeflated === other.isDeflated
}

function textIn(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function unfit(): UnfitZip {
  return new UnfitZip('it does not hold one whole file')
}

let table: Int32Array | null = null

/** Continues a CRC-32 (as in ZIP) over one more piece; `crc` is the result so far. */
function crc32(bytes: Uint8Array, crc: number): number {
  table ??= Int32Array.from({ length: 256 }, (_, n) => {
    let value = n
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
    return value
  })
  const known = table
  let sum = ~crc
  // A plain loop: an iterator takes several times as long.
  for (let at = 0; at < bytes.length; at += 1)
    sum = (sum >>> 8) ^ (known[(sum ^ (bytes[at] ?? 0)) & 0xff] ?? 0)
  return ~sum >>> 0
}
