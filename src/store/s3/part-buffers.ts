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
