// How a node that starts, and a command beside the nodes, judge a database by what is remembered of it outside, and what they say.

import { DomainError } from '../../../domain/errors.ts'
import { type Judgement, judgeState, RESTORATION_REMEDY } from '../../../domain/restoration.ts'
import { MINUTE, SECOND } from '../../../domain/time.ts'
import type { SavedWitness } from '../../witness/saved-witness.ts'
import type { InstanceState } from './instance.ts'
import { foundOf } from './standing.ts'

/** What is known of a database outside it. */
export type Remembered = {
  /** By the data folder; null without one, or when it was never served. */
  inFolder: SavedWitness | null
  witnessPath: string
  /** Elsewhere, of the instance with this tag. */
  readOthers: (tag: string) => Promise<SavedWitness | null>
}

/** Rows of operations are removed some time after this. */
const CHECKED_MS = 30 * MINUTE
const RETRY_MS = SECOND

/** `state` was asked for the operations of all witnesses. */
export function judgeEntered(state: InstanceState, witnesses: readonly SavedWitness[]): Judgement {
  const young = witnesses.map((witness) =>
    Math.abs(state.time - witness.savedAt) < CHECKED_MS ? witness : { ...witness, operations: [] },
  )
  return judgeState(foundOf(state), young, { isRunning: false })
}

export const operationsOf = (witnesses: readonly SavedWitness[]): string[] =>
  witnesses.flatMap(({ operations }) => operations)

export const remedied = (why: string) => `${why} ${RESTORATION_REMEDY}`

export function refuseRestored(why: string): DomainError {
  return new DomainError('conflict', remedied(why))
}

export function refuseForeign(witnessPath: string): DomainError {
  return new DomainError(
    'conflict',
    'This data folder served another database than the one of --database-url. Name the right database, or another folder with ' +
      `--data-dir; if the former database is gone for good, remove ${witnessPath}.`,
  )
}

/** Resolves to a value or, for the operator, to what the next attempt waits for. Throws when no attempt would help, or the time `isOver`. */
export type Attempt<T> = (isOver: () => boolean) => Promise<{ value: T } | { waiting: string }>

/** `until`: a time of `performance.now()`. */
export async function retry<T>(
  { until, onWarning }: { until: number; onWarning: (warning: string) => void },
  attempt: Attempt<T>,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const tried = await attempt(() => performance.now() > until)
    if ('value' in tried) return tried.value
    if (tries === 0) onWarning(tried.waiting)
    await Bun.sleep(RETRY_MS)
  }
}
