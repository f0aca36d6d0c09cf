// Streams of bytes: from an open file, from memory, and peeked at.

import { read } from 'node:fs'
import { promisify } from 'node:util'

const PIECE_BYTES = 256 * 1024

const readPiece = promisify(read)

/** Reads an open file from its beginning, only as fast as the stream is read. Leaves the file open. */
export function streamFile(descriptor: number): ReadableStream<Uint8Array> {
  let position = 0
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = new Uint8Array(PIECE_BYTES)
        const { bytesRead } = await readPiece(descriptor, piece, 0, PIECE_BYTES, position)
        position += bytesRead
        if (bytesRead === 0) controller.close()
        else controller.enqueue(piece.subarray(0, bytesRead))
      },
    },
    { highWaterMark: 0 },
  )
}

/** Reads an open file from its beginning into one buffer, which it reuses: `take` must not keep a piece. */
export async function readFileOnce(descriptor: number, take: (piece: Uint8Array) => void): Promise<void> {
  const piece = new Uint8Array(PIECE_BYTES)
  for (let position = 0; ; ) {
    const { bytesRead } = await readPiece(descriptor, piece, 0, PIECE_BYTES, position)
    if (bytesRead === 0) return
    take(piece.subarray(0, bytesRead))
    position += bytesRead
  }
}

export function streamOf(...pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = [...pieces]
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const piece = left.shift()
        if (piece === undefined) controller.close()
        else controller.enqueue(piece)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Returns the first bytes of a stream, and a stream that still begins with them. Returns fewer than `most` at its end. */
export async function peek(
  source: ReadableStream<Uint8Array>,
  most: number,
  isEnough: (bytes: Uint8Array) => boolean = () => false,
): Promise<{ first: Uint8Array; stream: ReadableStream<Uint8Array> }> {
  const reader = source.getReader()
  let first: Uint8Array = new Uint8Array(0)
  while (first.length < most && !isEnough(first)) {
    const { done, value } = await reader.read()
    if (done) break
    first = Buffer.concat([first, value])
  }
  let isFirst = first.length > 0
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (isFirst) {
          isFirst = false
          controller.enqueue(first)
          return
        }
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return { first: first.subarray(0, most), stream }
}
