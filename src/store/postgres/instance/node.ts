// This node among those that serve the database. Its row holds a random mark, which each heartbeat changes:
// first in the note of its folder, then in the row. A database that was set back has an earlier mark or none,
// and so has the row of a folder whose copy is served. Then this node stops serving, and no other one.

import { randomKey } from '../../../crypto/random.ts'
import { DomainError } from '../../../domain/errors.ts'
import type { Job } from '../../../domain/job.ts'
import { SECOND } from '../../../domain/time.ts'
import type { NodeNote } from '../../folder/notes.ts'
import { explainCopy } from '../../instance.ts'
import type { Changing, PostgresDatabase } from '../engine/database.ts'
import type { Session } from '../engine/session.ts'
import { findSchemaProblem } from '../migrate.ts'
import type { DatabaseClock } from './clock.ts'
import { DATABASE_TIME, type InstanceState, listNodes, readInstance, SET_BACK } from './instance.ts'

const BEAT_MS = 5 * SECOND
const BYTES = 16
const newMark = () => Buffer.from(randomKey(BYTES)).toString('hex')

/** By what the other nodes and operators know a node: its machine and its program. */
export type NodeLabel = { name: string; version: string }

export type NodeOptions = {
  /** As the node found the instance when it entered. */
  state: InstanceState
  /** Null in a new folder. */
  note: NodeNote | null
  /** Makes a note durable. */
  save: (note: NodeNote) => Promise<void>
  clock: DatabaseClock
  label: NodeLabel
  /**
   * Called with a sentence for the operator when serving ends, or ends for another reason, and with null when
   * it begins again.
   */
  onChange: (problem: string | null) => void
  /** Called after each heartbeat of the job: with null, or with what kept it from being written. */
  onBeat: (cause: unknown) => void
  /** Milliseconds between heartbeats. */
  beatMs?: number | undefined
}

export type NodeWork = {
  database: PostgresDatabase
  /** Within the transaction of a heartbeat: what nodes that are gone have left behind. */
  clearUp: (session: Changing) => Promise<void>
  /** Called after each heartbeat that is durable. */
  onDurable: () => Promise<void>
}

export type Node = ReturnType<typeof createNode>

export function createNode(options: NodeOptions) {
  const { state, note, save, clock, label, onChange, onBeat, beatMs = BEAT_MS } = options
  const { tag: instance, expiredAllAt } = state
  const last = note?.last ?? newMark()
  let known: NodeNote = { instance, expiredAllAt, node: note?.node ?? newMark(), last, next: last }
  const id = Buffer.from(known.node, 'hex')
  let hasRow = false
  let problem: string | null = null
  let beatAt = performance.now()
  let running: Promise<void> = Promise.resolve()

  /** Reads the instance. Returns why it may not be served as it was found; null when it may. */
  async function examine(session: Session, { lock }: { lock: boolean }) {
    const before = known
    const found = await readInstance(session, { lock, node: id })
    clock.observe(found.time)
    // A heartbeat may have ended meanwhile.
    const marks: (string | null)[] = [before.last, before.next, known.last, known.next]
    const isSetBack = hasRow && !marks.includes(found.mark)
    return {
      found,
      why: findSchemaProblem(found) ?? explainCopy(found.copiedTo) ?? (isSetBack ? SET_BACK : null),
    }
  }

  /** On a new connection: ends serving by what is found there. Only a heartbeat resumes it. */
  async function look(session: Session): Promise<void> {
    const { why } = await examine(session, { lock: false })
    if (why !== null) change(why)
  }

  function change(why: string | null): void {
    const isNew = why !== problem
    problem = why
    if (isNew) onChange(why)
  }

  /** A heartbeat whose outcome is not known is followed by one with the same mark. */
  async function beat({ database, clearUp, onDurable }: NodeWork, isLast: boolean): Promise<void> {
    if (known.next === known.last) known = { ...known, next: newMark() }
    await save(known)
    const why = await database.transact((session) => write(session, clearUp, isLast))
    change(why)
    if (why !== null) return
    hasRow = true
    known = { ...known, last: known.next }
    beatAt = performance.now()
    // A start then knows that the last mark is there, and that the one before is not.
    await (isLast ? save(known) : onDurable())
  }

  /** Returns why nothing may be served. */
  async function write(
    session: Changing,
    clearUp: NodeWork['clearUp'],
    isLast: boolean,
  ): Promise<string | null> {
    const { found, why } = await examine(session, { lock: true })
    if (why !== null) return why
    clock.learn(found)
    // While the clock is trusted, an earlier doubt ends.
    const doubt = clock.doubt()
    session.send(RAISE, [doubt?.expected ?? clock.now(), doubt?.said ?? null])
    // What an earlier process of this node has left behind counts as that of a node that is gone.
    if (!hasRow || isLast) session.send('UPDATE nodes SET seen_at = 0 WHERE id = $1', [id])
    await clearUp(session)
    session.send(ENTER, [id, label.name, label.version, known.next, state.time, isLast])
    return null
  }

  /** `work` is the database itself: heartbeats go on while nothing is served. */
  function start(work: NodeWork) {
    /** One after the other. */
    function beatNext(isLast: boolean): Promise<void> {
      const next = running.then(() => beat(work, isLast))
      running = next.catch(() => undefined)
      return next
    }
    let timer: Timer | undefined
    const job: Job = {
      name: 'heartbeat',
      start: (report) => {
        const beatAndTell = async () => {
          try {
            await beatNext(false)
            onBeat(null)
            report.did()
          } catch (cause) {
            onBeat(cause)
            report.failed(cause)
          }
        }
        timer = setInterval(beatAndTell, beatMs)
      },
      stop: () => {
        clearInterval(timer)
        return running
      },
    }
    return {
      job,
      /** A heartbeat at once. */
      beat: () => beatNext(false),
      /**
       * The last heartbeat: the node is gone for the others. Its row stays, by which it knows the database
       * again.
       */
      leave: () => beatNext(true),
      list: () => work.database.read((session) => listNodes(session, id)),
      /** Milliseconds since the last heartbeat that is durable. */
      sinceHeartbeat: () => performance.now() - beatAt,
    }
  }

  /** The database for all that is served: it refuses everything while nothing may be. */
  function guard({ read, transact }: Works): Works {
    const guarded =
      <S, T>(work: (session: S) => Promise<T>) =>
      async (session: S) => {
        // Opening the connection may have found that.
        requireServing()
        return work(session)
      }
    return {
      read: (work, more) => read(guarded(work), more),
      transact: (work, more) => transact(guarded(work), more),
    }
  }

  function requireServing(): void {
    if (problem !== null) throw new DomainError('overloaded', NOT_SERVED, { retryAfter: 30 })
  }

  return { id, look, start, guard, problem: () => problem }
}

type Works = Pick<PostgresDatabase, 'read' | 'transact'>

const NOT_SERVED =
  'The database of this server has to be looked at by an administrator; nothing was stored or counted.'

const RAISE = 'UPDATE instance SET clock_mark = greatest(clock_mark, $1::bigint), clock_doubted = $2::bigint'

const ENTER = `INSERT INTO nodes (id, name, version, mark, started_at, seen_at)
  VALUES ($1, $2, $3, $4, $5, CASE WHEN $6::boolean THEN 0 ELSE ${DATABASE_TIME} END)
  ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, version = EXCLUDED.version, mark = EXCLUDED.mark,
    started_at = EXCLUDED.started_at, seen_at = EXCLUDED.seen_at`
