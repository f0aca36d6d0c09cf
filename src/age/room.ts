// How much an encrypted file may hold. It is a ZIP, of which a small one can hold so much that it fills a
// disk.

/** Content may take this many bytes, or `MAX_GROWTH` times its encrypted size. */
const MIN_ROOM = 256 * 1024 * 1024
const MAX_GROWTH = 20

/** Returns the most bytes that the content of a file may have. */
export function roomFor(sealedBytes: number): number {
  return Math.max(MIN_ROOM, MAX_GROWTH * sealedBytes)
}
