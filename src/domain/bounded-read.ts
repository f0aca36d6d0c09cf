// Reads bytes up to a limit, for answers of other servers, which may be hostile.

/**
 * Joins the pieces. As soon as they have more than `maxBytes`, breaks the stream off and throws what
 * `tooLarge` returns.
 */
export async function readUpTo(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const kept: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > maxBytes) throw tooLarge()
    kept.push(piece)
  }
  return Buffer.concat(kept)
}
