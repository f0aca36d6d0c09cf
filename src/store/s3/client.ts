// Requests to the store of the bucket with a bound on their time. All of them do the same when they arrive twice, so they are
// sent again a few times, with jitter; while the store is known to fail, requests are refused at once.

import { randomKey } from '../../crypto/random.ts'
import { type FailureKind, S3Failure } from './failures.ts'
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

export type SendOptions = {
  /** Bytes that the request or its answer may have. */
  bytes?: number
  /** A time of `performance.now()` by which it must be over, when it is part of something larger. */
  by?: number
  /** Milliseconds for one try, when the store has to work before it answers. */
  once?: number
  /** Breaks it off, and is not tried again then. */
  signal?: AbortSignal
  /** Asks also when the store has just failed, to find out what came of that. */
  isFollowUp?: boolean
}

export type Client = ReturnType<typeof createClient>

export type ClientOptions = {
  sendOnce: SendOnce
  reachability: Reachability
  patience?: Patience | undefined
}

/** How many requests ended in which way, since the start. */
export type RequestCounts = { ok: number; retried: number; missing: number; failed: number }

export function createClient({ sendOnce, reachability, patience = PATIENCE }: ClientOptions) {
  const counts: RequestCounts = { ok: 0, retried: 0, missing: 0, failed: 0 }

  /** Throws S3Failure. */
  async function send(request: S3Request, options: SendOptions = {}): Promise<S3Answer> {
    if (!options.isFollowUp) reachability.requireWorking()
    try {
      const answer = await sendUntil(request, options)
      counts.ok += 1
      reachability.worked()
      return answer
    } catch (cause) {
      note(cause)
      throw cause
    }
  }

  async function sendUntil(request: S3Request, options: SendOptions): Promise<S3Answer> {
    const { bytes = 0, once = patience.once, signal } = options
    const end = options.by ?? performance.now() + patience.whole
    for (let tried = 1; ; tried += 1) {
      const limit = Math.min(end - performance.now(), once + bytes / BYTES_PER_MS)
      try {
        return await sendOnce(request, Math.max(1, Math.floor(limit)), signal)
      } catch (cause) {
        const pause = patience.pause * 2 ** (tried - 1) * (0.5 + jitter())
        const isOver = performance.now() + pause >= end || tried === MAX_TRIES || signal?.aborted
        if (isOver || !(cause instanceof S3Failure && cause.isPassing)) throw cause
        counts.retried += 1
        await Bun.sleep(pause)
      }
    }
  }

  /** What is missing or not supported says that the store works. */
  function note(cause: unknown): void {
    const kind: FailureKind = cause instanceof S3Failure ? cause.kind : 'failing'
    if (kind === 'missing' || kind === 'unsupported') {
      counts.missing += 1
      reachability.worked()
      return
    }
    counts.failed += 1
    reachability.failed(cause instanceof Error ? cause.message : String(cause), kind)
  }

  return { send, patience, counts: (): RequestCounts => ({ ...counts }) }
}

/** From 0 to 1, so that servers that failed together do not come back together. */
function jitter(): number {
  return randomKey(1).readUInt8() / 255
}
