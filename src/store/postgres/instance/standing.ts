// Whether this node may serve the database. It looks at each new connection before the first use, and with each heartbeat: a
// server may come back with an earlier state, or with tables that only newer versions understand.

import { DomainError } from '../../../domain/errors.ts'
import { type Found, judgeState, RESTORATION_REMEDY, type Witness } from '../../../domain/restoration.ts'
import { MINUTE } from '../../../domain/time.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import { UnservedError } from '../engine/opener.ts'
import { findSchemaProblem } from '../schema/schema-version.ts'
import { type InstanceState, readInstance } from './instance.ts'

/** Operations that ended at about the same time may have become durable in another order. */
const MAX_REMEMBERED = 64
/** Rows of operations are kept for longer than this. */
const REMEMBERED_MS = 30 * MINUTE

type Works = Pick<PostgresDatabase, 'read' | 'transact' | 'write'>

export type Standing = ReturnType<typeof createStanding>

export type StandingOptions = {
  /** As the opening found the instance. */
  state: InstanceState
  observe: (time: number) => void
  /** A later state than that of this node which is remembered elsewhere; null when none is. */
  findLater: () => Witness | null
  /** Milliseconds of a clock that only goes on. */
  elapsed: () => number
  /** Called with a sentence for the operator when serving ends, or ends for another reason, and with null when it begins again. */
  onChange: (problem: string | null, wasServing: boolean) => void
}

export function createStanding({ state, findLater, observe, elapsed, onChange }: StandingOptions) {
  let known = { tag: state.tag, beats: state.beats, restoredAt: state.restoredAt, place: state.here }
  const acknowledged: { id: Uint8Array; at: number }[] = []
  let next = 0
  let problem: Problem | null = null

  /**
   * Remembers a change that was acknowledged to this node: a database that lacks it was set back. While nothing may be served,
   * the only change is the note of that, which need not be there.
   */
  function remember(id: Uint8Array): void {
    if (problem !== null) return
    acknowledged[next] = { id, at: elapsed() }
    next = (next + 1) % MAX_REMEMBERED
  }

  function witness(): Witness {
    const oldest = elapsed() - REMEMBERED_MS
    const young = acknowledged.filter(({ at }) => at > oldest)
    const operations = young.map(({ id }) => Buffer.from(id).toString('hex'))
    return { ...known, operations, isFinal: false }
  }

  /**
   * Reads the instance, and ends or resumes serving by what it says. Throws UnservedError instead of ending it, unless the server
   * `isLast`: another one may have the right database.
   */
  async function look(
    session: Pick<Session, 'query'>,
    { lock = false, isLast = true } = {},
  ): Promise<InstanceState> {
    const before = witness()
    const found = await readInstance(session, { operations: before.operations, lock })
    const judged = judge(found, before)
    if (judged !== null && !isLast) throw new UnservedError(judged.why)
    observe(found.time)
    change(judged)
    if (problem === null) known = { ...known, beats: Math.max(known.beats, found.beats), place: found.here }
    return found
  }

  /** Why the database may not be served as it was found; null when it may. `before`: what this node remembers. */
  function judge(found: InstanceState, before: Witness): Problem | null {
    if (found.halted !== null) return { why: found.halted, isRestored: false }
    const schemaProblem = findSchemaProblem(found)
    if (schemaProblem !== null) return { why: schemaProblem, isRestored: false }
    const isResumed = found.tag === known.tag && found.restoredAt > known.restoredAt
    if (isResumed) resume(found)
    const remembered = isResumed ? witness() : before
    const judgement = judgeState(foundOf(found), [remembered, ...witnessesElsewhere()], { isRunning: true })
    if (judgement.is === 'intact') return null
    return judgement.is === 'foreign'
      ? { why: FOREIGN, isRestored: false }
      : { why: `${judgement.why} ${RESTORATION_REMEDY}`, isRestored: true }
  }

  /** Its transactions may have ended too long ago to be there. */
  function witnessesElsewhere(): Witness[] {
    const later = findLater()
    return later === null ? [] : [{ ...later, operations: [] }]
  }

  /** Every push was expired by `after-restore`: nothing from before matters. */
  function resume({ beats, restoredAt, here }: InstanceState): void {
    known = { ...known, beats, restoredAt, place: here }
    acknowledged.length = 0
    next = 0
  }

  function change(found: Problem | null): void {
    const before = problem
    problem = found
    if (found?.why !== before?.why) onChange(found?.why ?? null, before === null)
  }

  function requireServing(): void {
    if (problem !== null) throw new DomainError('overloaded', NOT_SERVED, { retryAfter: 30 })
  }

  /** The same database, which refuses everything while nothing may be served. */
  function guard({ read, transact, write }: Works): Works {
    const guarded =
      <T>(work: (session: Session) => Promise<T>) =>
      (session: Session) => {
        // The connection may be a new one.
        requireServing()
        return work(session)
      }
    return {
      read: async (work, options) => {
        requireServing()
        return read(guarded(work), options)
      },
      transact: async (work, options) => {
        requireServing()
        return transact(guarded(work), options)
      },
      write: async (make, options) => {
        requireServing()
        const guardedMake = (id: Uint8Array) => {
          requireServing()
          return make(id)
        }
        return write(guardedMake, options)
      },
    }
  }

  /** Takes over what a heartbeat wrote. */
  function beat(beats: number): void {
    known = { ...known, beats: Math.max(known.beats, beats) }
  }

  return { remember, look, guard, beat, witness, problem: () => problem }
}

/** `why` is for the operator. `isRestored`: this node noticed it, and the others have to know. */
export type Problem = { why: string; isRestored: boolean }

export function foundOf(state: InstanceState): Found {
  return { ...state, operations: new Set(state.operations) }
}

const NOT_SERVED =
  'The database of this server has to be looked at by an administrator; nothing was stored or counted.'

const FOREIGN =
  'The database is another one than this node was started with, so nothing is served. Start the node again if that is meant.'
