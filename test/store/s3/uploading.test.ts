// The parts into which the bytes of a file are cut.

import { expect, test } from 'bun:test'
import { type Cut, createPartBuffers, cutUp } from '../../../src/store/s3/uploading.ts'

const PART = 4

async function* bytesOf(...chunks: string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

/** Buffers that are counted until they are released. */
function openBuffers() {
  const buffers = createPartBuffers({ bytes: PART, most: 3, patience: 0 })
  let held = 0
  return {
    held: () => held,
    take: async () => {
      const buffer = await buffers.take()
      held += 1
      return buffer
    },
    giveBack: (buffer: Cut['buffer']) => {
      held -= 1
      buffers.giveBack(buffer)
    },
  }
}

test.each([
  [[], ['*']],
  [['abc'], ['abc*']],
  [['ab', '', 'cd'], ['abcd*']],
  [['abcde'], ['abcd', 'e*']],
  [
    ['a', 'bcdefghi', 'j'],
    ['abcd', 'efgh', 'ij*'],
  ],
])('%p becomes full parts and a last one: %p', async (chunks, expected) => {
  const buffers = openBuffers()
  const parts: string[] = []
  for await (const { buffer, length, isLast } of cutUp(bytesOf(...chunks), buffers)) {
    parts.push(`${buffer.subarray(0, length).toString()}${isLast ? '*' : ''}`)
    buffers.giveBack(buffer)
  }
  expect(parts).toEqual(expected)
  expect(buffers.held()).toBe(0)
})

test('a partly filled buffer is released when the source fails', async () => {
  const buffers = openBuffers()
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('ab')
    throw new Error('gone')
  }
  await expect(Array.fromAsync(cutUp(broken(), buffers))).rejects.toThrow('gone')
  expect(buffers.held()).toBe(0)
})
