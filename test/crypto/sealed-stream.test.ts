// Sealed files: content around every segment border is restored, and altered content is refused.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  deriveFileKey,
  HEADER_BYTES,
  openSegment,
  SEGMENT_BYTES,
  sealStream,
  segmentCount,
  segmentPosition,
} from '../../src/crypto/sealed-stream.ts'

const file = { id: 'a'.repeat(26), key: deriveFileKey(new Uint8Array(32).fill(9), 'a'.repeat(26)) }

async function seal(content: Buffer, chunk = 100_000): Promise<Buffer> {
  async function* chunks() {
    for (let at = 0; at < content.length; at += chunk) yield content.subarray(at, at + chunk)
  }
  return Buffer.concat(await Array.fromAsync(sealStream(chunks(), file)))
}

function open(sealed: Buffer, size: number, as = file): Buffer | null {
  const last = segmentCount(size) - 1
  const segments = Array.from({ length: last + 1 }, (_, index) => {
    const { start, length } = segmentPosition(index, size)
    return openSegment(sealed.subarray(start, start + length), as, { index, isLast: index === last })
  })
  return segments.includes(null) ? null : Buffer.concat(segments.filter((segment) => segment !== null))
}

function bytes(size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8)) & 255))
}

const borders = [0, 1, 2]
  .flatMap((n) => [-1, 0, 1].map((off) => n * SEGMENT_BYTES + off))
  .filter((size) => size >= 0)

test.each(borders)('%p bytes come back unchanged', async (size) => {
  const content = bytes(size)
  expect(open(await seal(content), size)?.equals(content)).toBe(true)
})

test('the size of the chunks makes no difference', async () => {
  const content = bytes(2 * SEGMENT_BYTES + 77)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1_000, max: 700_000 }), async (chunk) => {
      expect(open(await seal(content, chunk), content.length)?.equals(content)).toBe(true)
    }),
    { numRuns: 12 },
  )
})

test('a small file with any bit flipped, header included, does not open', async () => {
  const sealed = await seal(Buffer.from('secret'))
  for (let bit = HEADER_BYTES * 8; bit < sealed.length * 8; bit += 1) {
    const altered = Buffer.from(sealed)
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect(open(altered, 6)).toBeNull()
  }
})

test('dropped, repeated, swapped and truncated segments are refused', async () => {
  const size = 3 * SEGMENT_BYTES
  const sealed = await seal(bytes(size))
  const part = (index: number) => {
    const { start, length } = segmentPosition(index, size)
    return sealed.subarray(start, start + length)
  }
  const head = sealed.subarray(0, HEADER_BYTES)
  expect(open(Buffer.concat([head, part(1), part(0), part(2)]), size)).toBeNull()
  expect(open(Buffer.concat([head, part(0), part(0), part(2)]), size)).toBeNull()
  expect(open(Buffer.concat([head, part(0), part(1)]), 2 * SEGMENT_BYTES)).toBeNull()
  expect(open(sealed.subarray(0, sealed.length - 1), size)).toBeNull()
  expect(open(sealed, size - 1)).toBeNull()
})

test('a file opens only under its own id and key', async () => {
  const sealed = await seal(Buffer.from('secret'))
  expect(open(sealed, 6, { ...file, id: 'b'.repeat(26) })).toBeNull()
  expect(open(sealed, 6, { ...file, key: deriveFileKey(new Uint8Array(32), file.id) })).toBeNull()
})
