// Whether this node may serve its database. The node's row holds a random mark, which each heartbeat changes: first in the
// note of its folder, then in the row. A database that was set back has an earlier mark or none, and so has the row of a folder
// whose copy is served. Then this node stops serving, and no other one.

import { randomKey } from '../../../crypto/random.ts'
import { DomainError } from '../../../domain/errors.ts'
import { explainCopy } from '../../copy/state.ts'
import type { NodeNote } from '../../folder/notes.ts'
import type { Session } from '../engine/database.ts'
import { findSchemaProblem } from '../schema/schema-version.ts'
import { guardDatabase, type Works } from './guarded-database.ts'
import { type InstanceState, readInstance } from './instance.ts'
import { readMark } from './node-rows.ts'

export type Standing = ReturnType<typeof createStanding>

export type StandingOptions = {
  /** As the node found the instance when it entered. */
  state: InstanceState
  /** Null in a new folder. */
  note: NodeNote | null
  /** Makes a note durable. */
  save: (note: NodeNote) => Promise<void>
  observe: (time: number) => void
  /** Called with a sentence for the operator when serving ends, or ends for another reason, and with null when it begins again. */
  onChange: (problem: string | null, wasServing: boolean) => void
}

const BYTES = 16
const newMark = () => Buffer.from(randomKey(BYTES)).toString('hex')

export function createStanding({ state, note, save, observe, onChange }: StandingOptions) {
  const { tag: instance, expiredAllAt } = state
  const last = note?.last ?? newMark()
  let known: NodeNote = { instance, expiredAllAt, node: note?.node ?? newMark(), last, next: last }
  let hasRow = false
  let problem: string | null = null

  /** The note for the next heartbeat, once it is durable. A heartbeat whose outcome is not known is followed by one with the same mark. */
  async function prepare(): Promise<NodeNote> {
    if (known.next === known.last) known = { ...known, next: newMark() }
    await save(known)
    return known
  }

  /** Call this once a heartbeat has written the mark `next` of its note. */
  function wrote({ next }: NodeNote): void {
    hasRow = true
    known = { ...known, last: next }
    change(null)
  }

  /** Reads the instance on a new connection, and ends serving by what it says. Only a heartbeat resumes it. */
  async function look(session: Pick<Session, 'query'>): Promise<void> {
    const before = known
    const found = await readInstance(session)
    observe(found.time)
    const mark = await readMark(session, before.node)
    const isKnown = [before.last, before.next, known.last, known.next].some((one) => one === mark)
    const why = findProblem(found) ?? (hasRow && !isKnown ? SET_BACK : null)
    if (why !== null) change(why)
  }

  /** Why the database as it was found may not be served, whatever the mark; null when it may. */
  function findProblem(found: InstanceState): string | null {
    const isElsewhere = found.tag !== instance || found.here !== state.here
    return isElsewhere ? ELSEWHERE : (findSchemaProblem(found) ?? explainCopy(found.copy))
  }

  function change(why: string | null): void {
    const before = problem
    problem = why
    if (why !== before) onChange(why, before === null)
  }

  function requireServing(): void {
    if (problem !== null) throw new DomainError('overloaded', NOT_SERVED, { retryAfter: 30 })
  }

  return {
    node: Buffer.from(known.node, 'hex'),
    prepare,
    wrote,
    /** Call this after the last heartbeat: a start then knows that its mark is there, and that the one before is not. */
    close: () => save(known),
    look,
    findProblem,
    change,
    hasRow: () => hasRow,
    guard: (works: Works) => guardDatabase(works, requireServing),
    problem: () => problem,
  }
}

const NOT_SERVED =
  'The database of this server has to be looked at by an administrator; nothing was stored or counted.'

const ELSEWHERE =
  'The address leads to another database than this node was started with, so nothing is served here. Start the node again if ' +
  'that is meant.'

export const SET_BACK =
  'The database does not know the last change of this node: it was set back to an earlier state, or a copy of this data folder is ' +
  'served elsewhere. Nothing is served here. After a restore, what was read, expired or deleted since could be opened again: stop ' +
  'all nodes and run "oncebox expire-all", which expires every push. A copied folder needs a new one in its place (--data-dir).'
