// Reads sealed files in pieces, for a copy or for the digest by which a copy is compared with its source.

import { createDigest } from '../../crypto/digest.ts'
import type { OpenedFile, SealedFiles } from '../../store/files-face.ts'

const PIECE_BYTES = 1024 * 1024

export type ReadingOptions = {
  /** Is told how many bytes passed, to give memory back now and then. */
  relieve: (bytes: number) => void
}

/** Size and SHA-256 of the file with this id; null when there is none. */
export async function digestAt(
  files: SealedFiles,
  id: string,
  options: ReadingOptions,
): Promise<string | null> {
  const opened = await files.open(id)
  if (opened === null) return null
  try {
    return await digestOf(opened, options)
  } finally {
    await opened.close()
  }
}

/** Size and SHA-256. */
export async function digestOf(file: OpenedFile, options: ReadingOptions): Promise<string> {
  const { seen, digest } = createFileDigest(file)
  for await (const piece of piecesOf(file, options)) seen(piece)
  return digest()
}

/** `digest` returns the same as `digestOf`, once all pieces have been seen. */
export function createFileDigest({ size }: OpenedFile) {
  const sha256 = createDigest()
  return {
    seen: (piece: Uint8Array) => sha256.update(piece),
    digest: () => `${size} ${sha256.hex()}`,
  }
}

/** Ends early when the file does, which its digest then shows. */
export async function* piecesOf(file: OpenedFile, { relieve }: ReadingOptions): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.size; ) {
    const piece = await file.read({ start, length: Math.min(PIECE_BYTES, file.size - start) })
    if (piece.length === 0) return
    yield piece
    relieve(piece.length)
    start += piece.length
  }
}
