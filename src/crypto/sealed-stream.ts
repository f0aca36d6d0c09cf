// A sealed file: segments of a fixed size, each authenticated before any of its bytes are released (STREAM,
// after Hoang, Reyhanitabar, Rogaway and Vizár 2015).
//
//   8 bytes   header: "OBF", version 1, size of a segment (big-endian)
//   then for each segment: ciphertext, 16 bytes tag
//
// AES-256-GCM under the file's own key. Nonce: 7 zero bytes, a 4-byte counter, 1 for the last segment and
// else 0. Associated data: the header and the file's id. There is always a last segment, which may be empty.

import { decrypt, encrypt, NONCE_BYTES, TAG_BYTES } from './gcm.ts'
import { deriveKey } from './hkdf.ts'

export const SEGMENT_BYTES = 256 * 1024
export const HEADER_BYTES = 8

/** The id and key that a sealed file is bound to. */
type FileBinding = { id: string; key: Uint8Array }

/** Derives a key for each file of a push from the push's data key. */
export function deriveFileKey(dataKey: Uint8Array, id: string): Uint8Array {
  return deriveKey({ material: [dataKey], info: `oncebox/1/file/${id}` })
}

export function segmentCount(size: number): number {
  return Math.max(1, Math.ceil(size / SEGMENT_BYTES))
}

/** Returns the position of a segment in the sealed file, in bytes. */
export function segmentPosition(index: number, size: number): { start: number; length: number } {
  const plain = Math.min(SEGMENT_BYTES, size - index * SEGMENT_BYTES)
  return { start: HEADER_BYTES + index * (SEGMENT_BYTES + TAG_BYTES), length: plain + TAG_BYTES }
}

/** Returns the size of a sealed file for the size of its content. */
export function sealedSize(size: number): number {
  const { start, length } = segmentPosition(segmentCount(size) - 1, size)
  return start + length
}

/** Whether these are the first bytes of a file that this version wrote. */
export function isHeader(bytes: Uint8Array): boolean {
  return header().equals(bytes)
}

/** Yields the sealed file in pieces while the content arrives. Holds one segment in memory. */
export async function* sealStream(
  content: AsyncIterable<Uint8Array>,
  file: FileBinding,
): AsyncGenerator<Buffer> {
  const segment = Buffer.allocUnsafe(SEGMENT_BYTES)
  let filled = 0
  let index = 0
  yield header()
  for await (const chunk of content) {
    for (let used = 0; used < chunk.length; ) {
      // Seal a full segment only when more content follows, because the last segment carries a flag.
      if (filled === SEGMENT_BYTES) {
        yield* sealSegment(segment, file, { index, isLast: false })
        index += 1
        filled = 0
      }
      const part = chunk.subarray(used, used + SEGMENT_BYTES - filled)
      segment.set(part, filled)
      filled += part.length
      used += part.length
    }
  }
  yield* sealSegment(segment.subarray(0, filled), file, { index, isLast: true })
}

type SegmentPlace = { index: number; isLast: boolean }

/** Returns the plain bytes of one segment; null if it was altered, moved or truncated. */
export function openSegment(sealed: Uint8Array, file: FileBinding, place: SegmentPlace): Buffer | null {
  return decrypt(sealed, optionsOf(file, place))
}

function sealSegment(plain: Uint8Array, file: FileBinding, place: SegmentPlace): [Buffer, Buffer] {
  return encrypt(plain, optionsOf(file, place))
}

function header(): Buffer {
  const bytes = Buffer.from('OBF\u0001\0\0\0\0', 'latin1')
  bytes.writeUInt32BE(SEGMENT_BYTES, 4)
  return bytes
}

function optionsOf({ id, key }: FileBinding, { index, isLast }: SegmentPlace) {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUInt32BE(index, 7)
  nonce.writeUInt8(isLast ? 1 : 0, 11)
  return { key, nonce, data: Buffer.concat([header(), Buffer.from(id)]) }
}
