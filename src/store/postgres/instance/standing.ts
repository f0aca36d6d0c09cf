// Whether this node may serve the database. It looks at each new connection before the first use, and with each heartbeat: a
// server may come back with an earlier state, or with tables that only newer versions understand.

import { DomainError } from '../../../domain/errors.ts'
import { type Found, judgeState, RESTORATION_REMEDY, type Witness } from '../../../domain/restoration.ts'
import type { Session } from '../engine/database.ts'
import { UnservedError } from '../engine/opener.ts'
import { findSchemaProblem } from '../schema/schema-version.ts'
import { guardDatabase, type Works } from './guarded-database.ts'
import { type InstanceState, readInstance } from './instance.ts'
import { createNodeMemory, type NodeMemoryOptions } from './node-memory.ts'

export type Standing = ReturnType<typeof createStanding>

export type StandingOptions = NodeMemoryOptions & {
  observe: (time: number) => void
  /** A later state than that of this node which is remembered elsewhere; null when none is. */
  findLater: () => Witness | null
  /** Called with a sentence for the operator when serving ends, or ends for another reason, and with null when it begins again. */
  onChange: (problem: string | null, wasServing: boolean) => void
}

export function createStanding({ findLater, observe, onChange, ...options }: StandingOptions) {
  const memory = createNodeMemory(options)
  let problem: Problem | null = null

  /** Remembers a change that was acknowledged. While nothing may be served, it is only the note that says so, and may be lost. */
  function remember(id: Uint8Array): void {
    if (problem === null) memory.remember(id)
  }

  /**
   * Reads the instance, and ends or resumes serving by what it says. Throws UnservedError instead of ending it, unless the server
   * `isLast`: another one may have the right database.
   */
  async function look(
    session: Pick<Session, 'query'>,
    { lock = false, isLast = true } = {},
  ): Promise<InstanceState> {
    const before = memory.witness()
    const found = await readInstance(session, { operations: before.operations, lock })
    const judged = judge(found, before)
    if (judged !== null && !isLast) throw new UnservedError(judged.why)
    observe(found.time)
    change(judged)
    if (problem === null) memory.advance(found)
    return found
  }

  /**
   * Why the database may not be served as it was found; null when it may. `before`: what this node remembers, unless `after-restore`
   * has run since.
   */
  function judge(found: InstanceState, before: Witness): Problem | null {
    if (found.halted !== null) return { why: found.halted, isRestored: false }
    const schemaProblem = findSchemaProblem(found)
    if (schemaProblem !== null) return { why: schemaProblem, isRestored: false }
    const isResumed = memory.isResumed(found)
    if (isResumed) memory.resume(found)
    const remembered = isResumed ? memory.witness() : before
    const judgement = judgeState(foundOf(found), [remembered, ...witnessesElsewhere()], { isRunning: true })
    if (judgement.is === 'intact') return null
    return judgement.is === 'foreign'
      ? { why: FOREIGN, isRestored: false }
      : { why: `${judgement.why} ${RESTORATION_REMEDY}`, isRestored: true }
  }

  /** Without its operations, whose rows may have been removed since. */
  function witnessesElsewhere(): Witness[] {
    const later = findLater()
    return later === null ? [] : [{ ...later, operations: [] }]
  }

  function change(found: Problem | null): void {
    const before = problem
    problem = found
    if (found?.why !== before?.why) onChange(found?.why ?? null, before === null)
  }

  function requireServing(): void {
    if (problem !== null) throw new DomainError('overloaded', NOT_SERVED, { retryAfter: 30 })
  }

  return {
    remember,
    look,
    guard: (works: Works) => guardDatabase(works, requireServing),
    /** Takes over what a heartbeat wrote. */
    beat: (beats: number) => memory.advance({ beats }),
    witness: memory.witness,
    problem: () => problem,
  }
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
