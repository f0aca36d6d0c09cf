// Sends requests to the bucket, with a time limit, and knows whether it works. All requests are idempotent,
// so failed ones are retried a few times, with jitter. While the bucket is known to fail, requests are
// refused at once.

import { randomKey } from '../../crypto/random.ts'
import { type BucketPlace, nameBucket } from '../../domain/bucket-place.ts'
import { formatLength } from '../../domain/time.ts'
import { isFailure, S3Failure } from './failures.ts'
import { createSendOnce, type S3Answer, type S3Credentials, type S3Request } from './signed-requests.ts'

/** Milliseconds. */
export type S3Timeouts = {
  /** The time for all tries of one request. No answer of this server may hang for longer than ten seconds. */
  whole: number
  /** The time for one try of a small request. */
  once: number
  /** The first pause before another try. */
  pause: number
}

export const PATIENCE: S3Timeouts = { whole: 9_000, once: 3_000, pause: 150 }

/** A slower store counts as stalled. */
const BYTES_PER_MS = 1024
const MAX_TRIES = 4

type ClientOptions = {
  place: BucketPlace
  credentials: S3Credentials
  patience?: S3Timeouts | undefined
  /** Called with a sentence when the bucket begins to fail, fails in another way, or recovers. */
  onChange: (sentence: string) => void
}

/** `bytes`: the maximum size of request or answer, or of the data that the store copies before it answers. */
export type Send = <T>(request: S3Request, bytes: number, read: (answer: S3Answer) => T) => Promise<T>

export type Client = ReturnType<typeof createClient>

export function createClient({ place, credentials, patience = PATIENCE, onChange }: ClientOptions) {
  const name = nameBucket(place)
  const health = createHealth(name, onChange)
  const sendOnce = createSendOnce(place, credentials)
  const counts = { ok: 0, retried: 0, missing: 0, failed: 0 }

  /** Sends a request, and resolves to the result of `read` for its answer. Throws S3Failure. */
  const send: Send = async (request, bytes, read) => {
    health.requireWorking()
    try {
      const found = read(await sendUntil(request, patience.once + bytes / BYTES_PER_MS))
      counts.ok += 1
      health.worked({ stored: request.method === 'PUT' })
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
        if (isOver || !isFailure(cause, 'failing')) throw cause
        counts.retried += 1
        await Bun.sleep(pause)
      }
    }
  }

  /** Records a failure. A missing object, however, proves that the store works. */
  function note(cause: S3Failure): void {
    const isAnswer = cause.kind === 'missing'
    counts[isAnswer ? 'missing' : 'failed'] += 1
    if (isAnswer) health.worked({ stored: false })
    else health.failed(cause)
  }

  return {
    name,
    send,
    /** Returns why the store cannot be used; null when it can, even if it is full. */
    problem: () => health.problem(),
    isFull: () => health.isFull(),
    /** Counts requests by outcome since the start. */
    countRequests: () => ({ ...counts }),
  }
}

/** Returns a random factor from 0 to 1, so that servers that failed together do not retry together. */
function jitter(): number {
  return randomKey(1).readUInt8() / 255
}

/** How long after a timeout requests are refused without being sent, so that they do not pile up. */
const REST_MS = 1_000
/** The minimum time between log lines about the same failure. */
const SILENCE_MS = 600_000

function createHealth(name: string, onChange: (sentence: string) => void) {
  const toldAt = new Map<string, number>()
  let trouble: { cause: S3Failure; since: number; failedAt: number; isTold: boolean } | null = null

  function failed(cause: S3Failure): void {
    const words = cause.message
    const now = performance.now()
    const isQuiet = now - (toldAt.get(words) ?? Number.NEGATIVE_INFINITY) < SILENCE_MS
    const isNew = trouble?.cause.message !== words && !isQuiet
    trouble = {
      cause,
      since: trouble?.since ?? now,
      failedAt: now,
      isTold: isNew || trouble?.isTold === true,
    }
    if (!isNew) return
    toldAt.set(words, now)
    onChange(
      isFull()
        ? `The bucket ${name} is full: pushes with files are refused until it has room.`
        : `The bucket ${name} cannot be used: ${words}. Pushes without files go on; it is tried again.`,
    )
  }

  /**
   * Records a success. The state "full" ends only if something was `stored`, because a full bucket can still
   * read and delete.
   */
  function worked({ stored }: { stored: boolean }): void {
    if (trouble === null || (isFull() && !stored)) return
    const length = formatLength(performance.now() - trouble.since)
    const again = isFull() ? 'has room again' : `works again, after ${length}`
    if (trouble.isTold) onChange(`The bucket ${name} ${again}.`)
    trouble = null
  }

  /**
   * Throws the last failure again within a second of it, except for a refusal, which the bucket would repeat
   * quickly.
   */
  function requireWorking(): void {
    if (trouble?.cause.kind !== 'failing' || performance.now() - trouble.failedAt >= REST_MS) return
    throw new S3Failure('failing', trouble.cause.message)
  }

  const isFull = () => trouble?.cause.kind === 'full'
  const problem = () => (isFull() ? null : (trouble?.cause.message ?? null))
  return { failed, worked, requireWorking, problem, isFull }
}
