// Whether the store of the bucket works: told to the operator when it changes, and asked before each request.

import { formatLength } from '../../domain/time.ts'
import { type FailureKind, S3Failure } from './failures.ts'

/** After a failure to answer, requests are refused for this long without being sent, so that they do not pile up. */
const REST_MS = 1_000
/** The same sentence is told again only after this long, however often the store changes. */
const SILENCE_MS = 600_000

export type Reachability = ReturnType<typeof createReachability>

export type ReachabilityOptions = {
  /** Names the bucket. */
  name: string
  /** Is given a sentence when the store begins to fail, fails in another way, or works again. */
  onChange: (sentence: string) => void
}

type Trouble = { words: string; kind: FailureKind; since: number; failedAt: number; isTold: boolean }

export function createReachability({ name, onChange }: ReachabilityOptions) {
  const toldAt = new Map<string, number>()
  let trouble: Trouble | null = null
  let isFull = false

  /** Returns whether it was told now. */
  function tell(sentence: string): boolean {
    const now = performance.now()
    if (now - (toldAt.get(sentence) ?? Number.NEGATIVE_INFINITY) < SILENCE_MS) return false
    toldAt.set(sentence, now)
    onChange(sentence)
    return true
  }

  function failed(words: string, kind: FailureKind): void {
    if (kind === 'full') {
      filled()
      return
    }
    const isNew = trouble?.words !== words
    const sentence = `The bucket ${name} cannot be used: ${words}. Pushes without files go on; it is tried again.`
    const isTold = (isNew && tell(sentence)) || trouble?.isTold === true
    const failedAt = performance.now()
    trouble = { words, kind, since: trouble?.since ?? failedAt, failedAt, isTold }
  }

  /** A full store still reads and deletes. */
  function filled(): void {
    if (!isFull) tell(`The bucket ${name} is full: pushes with files are refused until it has room.`)
    isFull = true
  }

  /** A file was not kept or given back as it should be, though requests succeed. */
  function spoiled(words: string): void {
    if (trouble?.words !== words) tell(`The bucket ${name} failed to keep or give back a file: ${words}.`)
  }

  /** An answer does not mean that the bucket holds what it should. */
  function worked(): void {
    if (trouble?.kind !== 'misplaced') recovered()
  }

  /** The bucket holds the files of this database. */
  function placed(): void {
    if (trouble?.kind === 'misplaced') recovered()
  }

  function recovered(): void {
    if (trouble?.isTold)
      onChange(`The bucket ${name} works again, after ${formatLength(performance.now() - trouble.since)}.`)
    trouble = null
  }

  /** Something was stored, so there is room. */
  function stored(): void {
    if (isFull) onChange(`The bucket ${name} has room again.`)
    isFull = false
  }

  /** Throws the last failure for a second after it. Refusals do not count: the store answers them quickly. */
  function requireWorking(): void {
    if (trouble?.kind !== 'failing' || performance.now() - trouble.failedAt >= REST_MS) return
    throw new S3Failure('failing', trouble.words)
  }

  return {
    failed,
    spoiled,
    worked,
    placed,
    stored,
    requireWorking,
    /** Why it cannot be used; null when it can. */
    problem: (): string | null => trouble?.words ?? null,
    isFull: () => isFull,
  }
}
