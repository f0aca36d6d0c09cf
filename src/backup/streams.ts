// Bytes in pieces, each read only when it is asked for.

import { close, fstatSync, open, read } from 'node:fs'
import { promisify } from 'node:util'
import { conflict } from '../domain/errors.ts'

const PIECE_BYTES = 256 * 1024

const [openFile, readPiece, closeFile] = [promisify(open), promisify(read), promisify(close)]

/** For libraries that take streams. A cancelled stream ends the pieces. */
export function streamFrom(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await iterator.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await iterator.return?.()),
    },
    { highWaterMark: 0 },
  )
}

export async function* piecesOf(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}

/** Reads an open file from its beginning, and leaves it open. */
export async function* readOpen(file: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await readPiece(file, new Uint8Array(PIECE_BYTES), 0, PIECE_BYTES, position)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}

/**
 * Opens a file or a pipe at once, and closes it once its reader has ended. Throws what the system says, with the path. A plain
 * descriptor, because a FileHandle that nobody reads to its end, as after a wrong passphrase, would fail when it is collected.
 */
export async function readPath(path: string): Promise<AsyncGenerator<Uint8Array>> {
  const file = await openFile(path, 'r')
  if (!fstatSync(file).isDirectory()) return readOnce(file)
  await closeFile(file)
  throw conflict(`${path} is a folder, not a backup.`)
}

async function* readOnce(file: number): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { bytesRead, buffer } = await readPiece(file, new Uint8Array(PIECE_BYTES), 0, PIECE_BYTES, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await closeFile(file)
  }
}
