// Streams of bytes that are read lazily, piece by piece.

import { close, createReadStream, fstatSync, open } from 'node:fs'
import { promisify } from 'node:util'
import { conflict } from '../domain/errors.ts'

const PIECE_BYTES = 256 * 1024

const [openFile, closeFile] = [promisify(open), promisify(close)]

export async function* asyncPieces(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}

/** Reads an open file from the beginning and leaves it open. */
export function readOpen(file: number): AsyncIterable<Uint8Array> {
  return createReadStream('', { fd: file, start: 0, autoClose: false, highWaterMark: PIECE_BYTES })
}

/**
 * Opens a file or a pipe at once, and closes it when the iteration ends. Throws system errors with the path.
 * Uses a plain descriptor: if a FileHandle is not read to its end, as after a wrong passphrase, it fails when
 * it is garbage collected.
 */
export async function readPath(path: string): Promise<AsyncIterable<Uint8Array>> {
  const file = await openFile(path, 'r')
  if (!fstatSync(file).isDirectory()) return createReadStream('', { fd: file, highWaterMark: PIECE_BYTES })
  await closeFile(file)
  throw conflict(`${path} is a folder, not a backup.`)
}
