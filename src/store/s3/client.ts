// Requests to the store of the bucket with a bound on their time. All of them do the same when they arrive twice, so they are
// sent again a few times, with jitter; while the store is known to fail, requests are refused at once.

import { randomKey } from '../../crypto/random.ts'
import type { BucketReport } from '../files-face.ts'
import { S3Failure } from './failures.ts'
import type { Reachability } from './reachability.ts'
import type { S3Answer, S3Request, SendOnce } from './signed-requests.ts'

/** Milliseconds. */
export type Patience = {
  /** For all tries of one request: no answer of this server may hang for longer than ten seconds. */
  whole: number
  /** For one try of a small request. */
  once: number
  /** The first pause before another try. */
  pause: number
}

export const PATIENCE: Patience = { whole: 9_000, once: 3_000, pause: 150 }

/** A slower store than this counts as one that stalls. */
const BYTES_PER_MS = 1024
const MAX_TRIES = 4

/** `bytes`: that the request or its answer may have, or that the store has to copy before it answers. */
export type Send = <T>(request: S3Request, bytes: number, read: (answer: S3Answer) => T) => Promise<T>

export type ClientOptions = {
  sendOnce: SendOnce
  reachability: Reachability
  patience?: Patience | undefined
}

/** `count`: how many requests ended in which way, since the start. */
export type Client = { send: Send; count: BucketReport['countRequests'] }

export function createClient({ sendOnce, reachability, patience = PATIENCE }: ClientOptions): Client {
  const counts = { ok: 0, retried: 0, missing: 0, failed: 0 }

  /** Resolves to what `read` makes of the answer. Throws S3Failure. */
  const send: Send = async (request, bytes, read) => {
    reachability.requireWorking()
    try {
      const found = read(await sendUntil(request, patience.once + bytes / BYTES_PER_MS))
      counts.ok += 1
      reachability.worked({ stored: request.method === 'PUT' })
      return found
    } catch (cause) {
      if (cause instanceof S3Failure) note(cause)
      throw cause
    }
  }

  async function sendUntil(request: S3Request, once: number): Promise<S3Answer> {
    const end = performance.now() + Math.max(patience.whole, once)
    for (let tried = 1; ; tried += 1) {
      const limit = Math.min(end - performance.now(), once)
      try {
        return await sendOnce(request, Math.max(1, Math.floor(limit)))
      } catch (cause) {
        const pause = patience.pause * 2 ** (tried - 1) * (0.5 + jitter())
        const isOver = performance.now() + pause >= end || tried === MAX_TRIES
        if (isOver || !(cause instanceof S3Failure && cause.isPassing)) throw cause
        counts.retried += 1
        await Bun.sleep(pause)
      }
    }
  }

  /** What is missing or not supported says that the store works. */
  function note(cause: S3Failure): void {
    const isAnswer = cause.kind === 'missing' || cause.kind === 'unsupported'
    counts[isAnswer ? 'missing' : 'failed'] += 1
    if (isAnswer) reachability.worked({ stored: false })
    else reachability.failed(cause)
  }

  return { send, count: () => ({ ...counts }) }
}

/** From 0 to 1, so that servers that failed together do not come back together. */
function jitter(): number {
  return randomKey(1).readUInt8() / 255
}
