// Uploads one file to the bucket as its bytes arrive: in one request if it fits into one part, else part
// after part. Limits the memory for the parts of all uploads together.

import { DomainError } from '../../domain/errors.ts'
import { S3Failure } from './failures.ts'
import type { Objects, Part, PartUpload } from './objects.ts'

type PartBuffer = Buffer<ArrayBuffer>

type PartBuffers = {
  /** Takes a buffer. Throws `overloaded` if none becomes free before the timeout. */
  take(): Promise<PartBuffer>
  giveBack(buffer: PartBuffer): void
}

/** How many unused buffers are kept for the next upload. */
const SPARE = 2

const MIB = 1024 * 1024
/** S3 requires at least 5 MiB. All parts but the last have the same size, which some stores require. */
const LEAST_PART_BYTES = 5 * MIB
const MOST_PARTS = 10_000
/** Bytes of parts that are filled or sent, for all uploads together. */
const BUFFERED_BYTES = 240 * MIB

/** Computes the part sizes with which the largest file stays within the maximum number of parts. */
export function partSizes(maxFileBytes: number): { bytes: number; most: number } {
  // Sealing adds less than a thousandth.
  const needed = Math.ceil((maxFileBytes * 1.001) / MOST_PARTS / MIB) * MIB
  const bytes = Math.max(LEAST_PART_BYTES, needed)
  return { bytes, most: Math.max(4, Math.floor(BUFFERED_BYTES / bytes)) }
}

/**
 * Makes a pool of at most `most` buffers of `bytes` each. `patience`: how many milliseconds an upload waits
 * for one.
 */
export function createPartBuffers(options: { bytes: number; most: number; patience: number }): PartBuffers {
  const { bytes, most, patience } = options
  const spare: PartBuffer[] = []
  const waiting: ((buffer: PartBuffer) => void)[] = []
  let used = 0

  async function take(): Promise<PartBuffer> {
    if (used < most) {
      used += 1
      return spare.pop() ?? Buffer.allocUnsafeSlow(bytes)
    }
    const { promise, resolve, reject } = Promise.withResolvers<PartBuffer>()
    waiting.push(resolve)
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(resolve), 1)
      reject(new DomainError('overloaded', CROWDED, { retryAfter: 5 }))
    }, patience)
    return promise.finally(() => clearTimeout(timer))
  }

  function giveBack(buffer: PartBuffer): void {
    const next = waiting.shift()
    if (next !== undefined) {
      next(buffer)
      return
    }
    used -= 1
    if (spare.length < SPARE) spare.push(buffer)
  }

  return { take, giveBack }
}

const CROWDED = 'Too many files are being uploaded at once; nothing was stored.'

/** The first `length` bytes of the buffer are a part. */
export type Cut = { buffer: PartBuffer; length: number; isLast: boolean }

/**
 * Cuts bytes into parts, one buffer each, which the caller releases. An empty file becomes one empty part.
 */
export async function* cutUp(
  bytes: AsyncIterable<Uint8Array>,
  { take, giveBack }: PartBuffers,
): AsyncGenerator<Cut> {
  let filling: PartBuffer | null = await take()
  let length = 0
  try {
    for await (const chunk of bytes)
      for (let rest = chunk; rest.length > 0; ) {
        // Sends a full part only when more bytes follow, because the last part is sent differently.
        if (length === filling.length) {
          const full: Cut = { buffer: filling, length, isLast: false }
          filling = null
          yield full
          filling = await take()
          length = 0
        }
        const fitting = rest.subarray(0, filling.length - length)
        filling.set(fitting, length)
        length += fitting.length
        rest = rest.subarray(fitting.length)
      }
    const last: Cut = { buffer: filling, length, isLast: true }
    filling = null
    yield last
  } finally {
    if (filling !== null) giveBack(filling)
  }
}

type ObjectUpload = (key: string, bytes: AsyncIterable<Uint8Array>) => Promise<void>

/** Makes a function that uploads a file. A failure may leave parts in the bucket if the abort fails too. */
export function createUpload(objects: Objects, buffers: PartBuffers): ObjectUpload {
  return async (key, bytes) => {
    const parts: Part[] = []
    let upload = null as PartUpload | null
    let size = 0
    let sending: Promise<void> = Promise.resolve()

    async function send({ buffer, length, isLast }: Cut, before: Promise<void>): Promise<void> {
      await before
      const body = buffer.subarray(0, length)
      size += length
      if (isLast && upload === null) return void (await objects.put(key, body))
      upload = upload ?? (await objects.beginUpload(key))
      parts.push(await objects.putPart(upload, parts.length + 1, body))
    }

    try {
      for await (const cut of cutUp(bytes, buffers)) {
        const before = sending
        sending = send(cut, before).finally(() => buffers.giveBack(cut.buffer))
        // Handle the rejection now: a part is sent while the next one fills, so it may fail before it is
        // awaited.
        sending.catch(() => undefined)
        await before
      }
      await sending
      if (upload !== null) await objects.completeUpload(upload, parts, size)
      // Check the size, because a push may name a file only if all of it is stored.
      const kept = await objects.measure(key)
      if (kept !== size) throw new S3Failure('failing', `it kept ${kept ?? 0} of ${size} bytes of a file`)
    } catch (cause) {
      await sending.catch(() => undefined)
      if (upload !== null) await objects.abortUpload(upload).catch(() => undefined)
      throw cause
    }
  }
}
