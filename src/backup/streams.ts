// Streams of bytes, each read only as fast as its reader asks.

import { close, fstatSync, open, read } from 'node:fs'
import { promisify } from 'node:util'
import { DomainError } from '../domain/errors.ts'

const PIECE_BYTES = 256 * 1024

const [openFile, readPiece, closeFile] = [promisify(open), promisify(read), promisify(close)]

type Next = () => Uint8Array | null | Promise<Uint8Array | null>

/** `next` gives null at the end. */
function streamFrom(next: Next, cancel?: (reason: unknown) => unknown): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = await next()
        if (piece === null) controller.close()
        else controller.enqueue(piece)
      },
      cancel: async (reason) => void (await cancel?.(reason)),
    },
    { highWaterMark: 0 },
  )
}

export function streamOf(...pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = [...pieces]
  return streamFrom(() => left.shift() ?? null)
}

/** Reads an open file from its beginning, and leaves it open. */
export function streamFile(descriptor: number): ReadableStream<Uint8Array> {
  let position = 0
  return streamFrom(async () => {
    const piece = new Uint8Array(PIECE_BYTES)
    const { bytesRead } = await readPiece(descriptor, piece, 0, PIECE_BYTES, position)
    position += bytesRead
    return bytesRead === 0 ? null : piece.subarray(0, bytesRead)
  })
}

/**
 * Opens a file or a pipe at once, and closes it at its end. Throws what the system says, with the path. A plain descriptor,
 * because a FileHandle that nobody reads to its end, as after a wrong passphrase, would fail when it is collected.
 */
export async function streamPath(path: string): Promise<ReadableStream<Uint8Array>> {
  const file = await openFile(path, 'r')
  if (fstatSync(file).isDirectory()) {
    await closeFile(file)
    throw new DomainError('conflict', `${path} is a folder, not a backup.`)
  }
  let reading: Promise<unknown> = Promise.resolve()
  let ended: Promise<void> | null = null
  // Once, and after what reads it: by then the number may be that of somebody else's file.
  const end = () => {
    ended ??= reading.then(
      () => closeFile(file),
      () => closeFile(file),
    )
    return ended
  }
  const next = async () => {
    const read = readPiece(file, new Uint8Array(PIECE_BYTES), 0, PIECE_BYTES, null)
    reading = read
    const { bytesRead, buffer } = await read
    if (bytesRead > 0) return buffer.subarray(0, bytesRead)
    await end()
    return null
  }
  return streamFrom(next, end)
}

/** Standard input. */
export function streamPieces(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  const next = async () => {
    const { done, value } = await iterator.next()
    return done === true ? null : value
  }
  return streamFrom(next, () => iterator.return?.())
}

/** Returns the first bytes of a stream, until they are enough, and a stream that still begins with them. `cancel` closes the source. */
export async function peek(
  source: ReadableStream<Uint8Array>,
  isEnough: (bytes: Buffer) => boolean,
): Promise<{
  first: Buffer
  stream: ReadableStream<Uint8Array>
  cancel: (reason: unknown) => Promise<void>
}> {
  const reader = source.getReader()
  let first = Buffer.alloc(0)
  let isOver = false
  while (!isOver && !isEnough(first)) {
    const { done, value } = await reader.read()
    if (done) isOver = true
    else first = Buffer.concat([first, value])
  }
  let left: Uint8Array | null = first
  const next = async () => {
    const piece = left
    left = null
    if (piece !== null && piece.length > 0) return piece
    const { done, value } = isOver ? { done: true, value: undefined } : await reader.read()
    return done || value === undefined ? null : value
  }
  const cancel = (reason: unknown) => reader.cancel(reason)
  return { first, stream: streamFrom(next, cancel), cancel }
}
