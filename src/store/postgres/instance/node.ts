// This node among those that serve the database. Each heartbeat writes a new random mark to the note in the
// data folder, then to the node's row. If the row has another mark, the database was rolled back, or a copy
// of the folder is served elsewhere: then this node stops serving. Other nodes are not affected.

import { randomKey } from '../../../crypto/random.ts'
import { DomainError } from '../../../domain/errors.ts'
import type { Job } from '../../../domain/job.ts'
import { SECOND } from '../../../domain/time.ts'
import type { NodeNote } from '../../folder/notes.ts'
import { explainCopy } from '../../instance.ts'
import type { PostgresDatabase, PostgresTransaction } from '../engine/database.ts'
import type { PostgresSession } from '../engine/session.ts'
import { findSchemaProblem } from '../migrate.ts'
import type { DatabaseClock } from './clock.ts'
import { DATABASE_TIME, type InstanceState, listNodes, readInstance, SET_BACK } from './instance.ts'

const BEAT_MS = 5 * SECOND
const BYTES = 16
const newMark = () => Buffer.from(randomKey(BYTES)).toString('hex')

/** The name that other nodes and operators see: the machine and its version of Oncebox. */
export type NodeLabel = { name: string; version: string }

export type NodeOptions = {
  /** The instance as it was when this node joined. */
  state: InstanceState
  /** The note in the data folder; null in a new folder. */
  note: NodeNote | null
  /** Writes the note durably. */
  save: (note: NodeNote) => Promise<void>
  clock: DatabaseClock
  label: NodeLabel
  /**
   * Called with a sentence for the operator when this node stops serving or the reason changes; with null
   * when it serves again.
   */
  onChange: (refusal: string | null) => void
  /** Called after each heartbeat of the job: with null, or with the error that prevented it. */
  onBeat: (cause: unknown) => void
  /** Milliseconds between heartbeats. */
  beatMs?: number | undefined
}

type HeartbeatOptions = {
  database: PostgresDatabase
  /** Runs in the transaction of each heartbeat, and cleans up after dead nodes. */
  clearUp: (session: PostgresTransaction) => Promise<void>
  /** Called after each durable heartbeat. */
  onDurable: () => Promise<void>
}

export type Node = ReturnType<typeof createNode>

export function createNode(options: NodeOptions) {
  const { state, save, clock, label, onChange, onBeat, beatMs = BEAT_MS } = options
  let note = options.note === null ? newNote(state) : noteForStart(options.note, state)
  const id = Buffer.from(note.node, 'hex')
  /** Whether this process has written its row, so that a missing row is an error. */
  let hasRow = false
  /** Why this node serves nothing at present. */
  let refusedFor: string | null = null
  let lastBeatAt = performance.now()
  let lastBeat: Promise<void> = Promise.resolve()

  /** Reads the instance, and returns why this node may not serve it; `refusal` is null if it may. */
  async function examine(session: PostgresSession, { lock }: { lock: boolean }) {
    const before = note
    const found = await readInstance(session, { lock, node: id })
    clock.observe(found.time)
    // A heartbeat on another connection may have changed the note while this one read the row.
    const expected: (string | null)[] = [before.last, before.next, note.last, note.next]
    const isSetBack = hasRow && !expected.includes(found.mark)
    const refusal = findSchemaProblem(found) ?? explainCopy(found.copiedTo) ?? (isSetBack ? SET_BACK : null)
    return { found, refusal }
  }

  /** Checks the database on each new connection. May stop serving; only a heartbeat resumes it. */
  async function look(session: PostgresSession): Promise<void> {
    const examined = await examine(session, { lock: false })
    if (examined.refusal !== null) change(examined.refusal)
  }

  function change(to: string | null): void {
    const isNew = to !== refusedFor
    refusedFor = to
    if (isNew) onChange(to)
  }

  /** Writes one heartbeat. If the outcome is unknown, the next heartbeat uses the same mark. */
  async function beat({ database, clearUp, onDurable }: HeartbeatOptions, isLast: boolean): Promise<void> {
    if (note.next === note.last) note = { ...note, next: newMark() }
    await save(note)
    const refused = await database.transact((session) => writeRow(session, clearUp, isLast))
    change(refused)
    if (refused !== null) return
    hasRow = true
    note = { ...note, last: note.next }
    lastBeatAt = performance.now()
    // Write only the current mark at the end, so that the next start does not accept the mark before it.
    await (isLast ? save(note) : onDurable())
  }

  /** Writes the row of this node, or returns why the database may not be served. */
  async function writeRow(
    session: PostgresTransaction,
    clearUp: HeartbeatOptions['clearUp'],
    isLast: boolean,
  ): Promise<string | null> {
    const { found, refusal } = await examine(session, { lock: true })
    if (refusal !== null) return refusal
    clock.learn(found)
    // End a doubt that another node has stored while this node trusts the clock.
    const doubt = clock.doubt()
    session.send(RAISE_CLOCK, [doubt?.expected ?? clock.now(), doubt?.said ?? null])
    // Mark the row as dead until it is written again, so that clearUp also collects what this node's previous
    // process left behind.
    if (!hasRow || isLast) session.send(MARK_DEAD, [id])
    await clearUp(session)
    session.send(WRITE_ROW, [id, label.name, label.version, note.next, state.time, isLast])
    return null
  }

  /** Creates the job of heartbeats. They bypass `guard`, so they continue while the node serves nothing. */
  function start(heartbeats: HeartbeatOptions) {
    /** Waits for the heartbeat before. */
    function beatNext(isLast: boolean): Promise<void> {
      const next = lastBeat.then(() => beat(heartbeats, isLast))
      lastBeat = next.catch(() => undefined)
      return next
    }
    let timer: Timer | undefined
    const job: Job = {
      name: 'heartbeat',
      start: (report) => {
        const beatAndReport = async () => {
          try {
            await beatNext(false)
            onBeat(null)
            report.did()
          } catch (cause) {
            onBeat(cause)
            report.failed(cause)
          }
        }
        timer = setInterval(beatAndReport, beatMs)
      },
      stop: () => {
        clearInterval(timer)
        return lastBeat
      },
    }
    return {
      job,
      /** Writes a heartbeat now. */
      beat: () => beatNext(false),
      /**
       * Writes the last heartbeat, after which other nodes treat this one as dead. Keeps its row, so that the
       * next start can compare the marks.
       */
      leave: () => beatNext(true),
      list: () => heartbeats.database.read((session) => listNodes(session, id)),
      /** Milliseconds since the last durable heartbeat. */
      sinceHeartbeat: () => performance.now() - lastBeatAt,
    }
  }

  /** Wraps the database for all services: refuses everything while this node may not serve. */
  function guard({ read, transact }: Transactions): Transactions {
    const guarded =
      <S, T>(work: (session: S) => Promise<T>) =>
      async (session: S) => {
        // Check this late, because opening the connection may have stopped the node.
        requireServing()
        return work(session)
      }
    return {
      read: (work, more) => read(guarded(work), more),
      transact: (work, more) => transact(guarded(work), more),
    }
  }

  function requireServing(): void {
    if (refusedFor !== null) throw new DomainError('overloaded', NOT_SERVED, { retryAfter: 30 })
  }

  return { id, look, start, guard, problem: () => refusedFor }
}

type Transactions = Pick<PostgresDatabase, 'read' | 'transact'>

/** Returns the note with only the current mark. The first heartbeat adds the next one. */
function noteForStart({ node, last }: NodeNote, state: InstanceState): NodeNote {
  return { instance: state.tag, expiredAllAt: state.expiredAllAt, node, last, next: last }
}

function newNote(state: InstanceState): NodeNote {
  const last = newMark()
  return { instance: state.tag, expiredAllAt: state.expiredAllAt, node: newMark(), last, next: last }
}

const NOT_SERVED = "An administrator must check this server's database. Nothing was stored or counted."

const RAISE_CLOCK =
  'UPDATE instance SET clock_mark = greatest(clock_mark, $1::bigint), clock_doubted = $2::bigint'

const MARK_DEAD = 'UPDATE nodes SET seen_at = 0 WHERE id = $1'

const WRITE_ROW = `INSERT INTO nodes (id, name, version, mark, started_at, seen_at)
  VALUES ($1, $2, $3, $4, $5, CASE WHEN $6::boolean THEN 0 ELSE ${DATABASE_TIME} END)
  ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, version = EXCLUDED.version, mark = EXCLUDED.mark,
    started_at = EXCLUDED.started_at, seen_at = EXCLUDED.seen_at`
