// Reads an object of the bucket in windows that grow while it is read in order, so that a download takes few requests. All
// windows together have a bound.

import type { OpenedFile } from '../files-face.ts'
import type { Objects } from './objects.ts'

const KIB = 1024
/** Holds the header and the first segment of a sealed file. */
const FIRST_BYTES = 257 * KIB
const LARGEST_BYTES = 4096 * KIB
/** For all windows together but the first of each reader. With many readers, windows stay small. */
const TOTAL_BYTES = 48 * 1024 * KIB

export type OpenObject = (key: string) => Promise<OpenedFile | null>

export function createOpenObject(objects: Pick<Objects, 'read'>): OpenObject {
  let held = 0

  return async (key) => {
    const first = await objects.read(key, { start: 0, length: FIRST_BYTES })
    if (first === null) return null
    const { size } = first
    let window = { start: 0, bytes: first.bytes }
    let reserved = 0

    async function read({ start, length }: { start: number; length: number }): Promise<Uint8Array> {
      const wanted = Math.min(length, size - start)
      if (wanted <= 0) return new Uint8Array()
      const before = pieceOf(window, start, wanted)
      if (before.length === wanted) return before
      const missing = { start: start + before.length, length: wanted - before.length }
      await fill(missing)
      // Joined, because a segment may lie across two windows.
      return Buffer.concat([before, pieceOf(window, missing.start, missing.length)])
    }

    async function fill({ start, length }: { start: number; length: number }): Promise<void> {
      const isNext = start === window.start + window.bytes.length
      const asked = Math.max(length, reserve(isNext ? 2 * window.bytes.length : FIRST_BYTES))
      const rest = Math.min(asked, size - start)
      const found = await objects.read(key, { start, length: rest })
      // The reader finds that bytes are missing, and says of which push.
      if (found !== null) window = { start, bytes: found.bytes }
    }

    /** How large the next window may be. */
    function reserve(wanted: number): number {
      held -= reserved
      const room = Math.max(0, TOTAL_BYTES - held)
      reserved = Math.min(wanted, LARGEST_BYTES, room)
      held += reserved
      return reserved
    }

    async function close(): Promise<void> {
      reserve(0)
      window = { start: 0, bytes: new Uint8Array() }
    }

    return { size, read, close }
  }
}

/** What a window holds of the bytes from `start`, perhaps nothing. */
function pieceOf(window: { start: number; bytes: Uint8Array }, start: number, length: number): Uint8Array {
  const from = start - window.start
  if (from < 0 || from > window.bytes.length) return new Uint8Array()
  return window.bytes.subarray(from, from + length)
}
