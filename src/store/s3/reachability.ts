// Whether the store of the bucket works: told to the operator when it changes, and asked before each request.

import { formatLength } from '../../domain/time.ts'
import { S3Failure } from './failures.ts'

/** After a failure to answer, requests are refused for this long without being sent, so that they do not pile up. */
const REST_MS = 1_000
/** The same failure is told again only after this long, however often the store changes. */
const SILENCE_MS = 600_000

export type Reachability = ReturnType<typeof createReachability>

export type ReachabilityOptions = {
  /** Names the bucket. */
  name: string
  /** Is given a sentence when the store begins to fail, fails in another way, or works again. */
  onChange: (sentence: string) => void
}

type Trouble = { cause: S3Failure; since: number; failedAt: number; isTold: boolean }

export function createReachability({ name, onChange }: ReachabilityOptions) {
  const toldAt = new Map<string, number>()
  let trouble: Trouble | null = null

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
      cause.kind === 'full'
        ? `The bucket ${name} is full: pushes with files are refused until it has room.`
        : `The bucket ${name} cannot be used: ${words}. Pushes without files go on; it is tried again.`,
    )
  }

  /** A full store still reads and deletes: it has room again once it `stored` something. */
  function worked({ stored }: { stored: boolean }): void {
    if (trouble === null || (isFull() && !stored)) return
    const again = isFull()
      ? 'has room again'
      : `works again, after ${formatLength(performance.now() - trouble.since)}`
    if (trouble.isTold) onChange(`The bucket ${name} ${again}.`)
    trouble = null
  }

  /** Throws the last failure for a second after it. Refusals do not count: the store answers them quickly. */
  function requireWorking(): void {
    if (trouble?.cause.kind !== 'failing' || performance.now() - trouble.failedAt >= REST_MS) return
    throw new S3Failure('failing', trouble.cause.message)
  }

  function isFull(): boolean {
    return trouble?.cause.kind === 'full'
  }

  /** Why it cannot be used; null when it can, also while it is full. */
  function problem(): string | null {
    return isFull() ? null : (trouble?.cause.message ?? null)
  }

  return { failed, worked, requireWorking, problem, isFull }
}
