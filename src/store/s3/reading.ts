// Reads an object in windows that are larger than the requested ranges, so that a download takes few
// requests.

import type { OpenedFile } from '../files-contract.ts'
import type { Objects } from './objects.ts'

const KIB = 1024
/** Enough for the header and the first segment of a sealed file. */
const FIRST_BYTES = 257 * KIB
const WINDOW_BYTES = 1024 * KIB

export async function openObject(objects: Pick<Objects, 'read'>, key: string): Promise<OpenedFile | null> {
  const first = await objects.read(key, { start: 0, length: FIRST_BYTES })
  if (first === null) return null
  const { size } = first
  let window = { start: 0, bytes: first.bytes }

  /** Returns the bytes from `start` that are in the window, perhaps none. */
  function pieceFrom(start: number, length: number): Uint8Array {
    const from = start - window.start
    return from < 0 ? new Uint8Array() : window.bytes.subarray(from, from + length)
  }

  async function read({ start, length }: { start: number; length: number }): Promise<Uint8Array> {
    const wanted = Math.max(0, Math.min(length, size - start))
    const before = pieceFrom(start, wanted)
    if (before.length === wanted) return before
    const next = start + before.length
    const missing = wanted - before.length
    const asked = Math.min(Math.max(missing, WINDOW_BYTES), size - next)
    const found = await objects.read(key, { start: next, length: asked })
    // Return fewer bytes: the reader notices, and reports the push that is affected.
    if (found !== null) window = { start: next, bytes: found.bytes }
    // Join the pieces, because a segment may span two windows.
    return Buffer.concat([before, pieceFrom(next, missing)])
  }

  return { size, read, close: async () => undefined }
}
