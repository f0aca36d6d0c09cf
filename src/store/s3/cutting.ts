// Cuts the bytes of a file, as they arrive, into the parts of an upload.

import type { PartBuffer, PartBuffers } from './part-buffers.ts'

/** The first `length` bytes of the buffer are a part. */
export type Cut = { buffer: PartBuffer; length: number; isLast: boolean }

type Filling = Omit<Cut, 'isLast'>

/** Fills one buffer after another. The caller gives the buffer of each part back. A file without bytes is one empty part. */
export async function* cutUp(
  bytes: AsyncIterable<Uint8Array>,
  { take, giveBack }: PartBuffers,
): AsyncGenerator<Cut> {
  let filling: Filling | null = null
  const begin = async (): Promise<Filling> => ({ buffer: await take(), length: 0 })
  try {
    for await (const chunk of bytes) {
      for (let rest = chunk; rest.length > 0; rest = fill(filling, rest)) {
        // A full part is handed on only when more bytes follow, because the last one is told apart.
        if (filling !== null && isFull(filling)) {
          const full = filling
          filling = null
          yield { ...full, isLast: false }
        }
        filling = filling ?? (await begin())
      }
    }
    const last = filling ?? (await begin())
    filling = null
    yield { ...last, isLast: true }
  } finally {
    if (filling !== null) giveBack(filling.buffer)
  }
}

const isFull = ({ buffer, length }: Filling) => length === buffer.length

/** Returns the bytes for which there is no room. */
function fill(filling: Filling, bytes: Uint8Array): Uint8Array {
  const part = bytes.subarray(0, filling.buffer.length - filling.length)
  filling.buffer.set(part, filling.length)
  filling.length += part.length
  return bytes.subarray(part.length)
}
