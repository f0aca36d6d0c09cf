// Memory for the parts of uploads: buffers of one size that are used again, of which there is a limited number.

import { DomainError } from '../../domain/errors.ts'

export type PartBuffer = Buffer<ArrayBuffer>

export type PartBuffers = {
  /** Throws `overloaded` when none becomes free in time. */
  take(): Promise<PartBuffer>
  giveBack(buffer: PartBuffer): void
}

export type PartBuffersOptions = {
  /** Bytes of each. */
  bytes: number
  most: number
  /** Milliseconds that an upload waits for one. */
  patience: number
}

/** Unused buffers that are kept for the next upload. */
const SPARE = 2

const MIB = 1024 * 1024
/** At least 5 MiB, by the rules of S3; all parts but the last have the same size, which some stores demand. */
const LEAST_PART_BYTES = 5 * MIB
const MOST_PARTS = 10_000
/** Bytes of parts that are filled or sent, for all uploads together. */
const BUFFERED_BYTES = 240 * MIB

/** Parts so large that the largest file has no more of them than a store takes. */
export function partSizes(maxFileBytes: number): Pick<PartBuffersOptions, 'bytes' | 'most'> {
  // Sealing adds less than a thousandth.
  const needed = Math.ceil((maxFileBytes * 1.001) / MOST_PARTS / MIB) * MIB
  const bytes = Math.max(LEAST_PART_BYTES, needed)
  return { bytes, most: Math.max(4, Math.floor(BUFFERED_BYTES / bytes)) }
}

export function createPartBuffers({ bytes, most, patience }: PartBuffersOptions): PartBuffers {
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
      reject(tooMany())
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

function tooMany(): DomainError {
  const message = 'Too many files are being uploaded at once; nothing was stored.'
  return new DomainError('overloaded', message, { retryAfter: 5 })
}
