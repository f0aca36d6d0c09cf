// The nodes that serve the database, each with a row and a heartbeat. A heartbeat also raises the counter by which a database
// that was set back is noticed, and carries the clock's mark from node to node.

import { isDomainError } from '../../../domain/errors.ts'
import type { Job } from '../../../domain/job.ts'
import { MINUTE, SECOND } from '../../../domain/time.ts'
import type { NodeReport } from '../../database-face.ts'
import type { SavedWitness } from '../../witness/saved-witness.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import type { DatabaseClock } from './clock.ts'
import { DATABASE_TIME, haltNodes, type InstanceState } from './instance.ts'
import type { Standing } from './standing.ts'

const BEAT_MS = 5 * SECOND
/** A server that was left behind may still be reached, so its silence alone tells nothing. */
const FOLLOW_MS = 2 * SECOND
/** A node that was not seen for so long is taken for dead. */
const DEAD_MS = MINUTE

/** The ids of the nodes that are alive, as a subquery. */
export const LIVE_NODES = `SELECT id FROM nodes WHERE seen_at > ${DATABASE_TIME} - ${DEAD_MS}`

export type Nodes = {
  job: Job
  /** A heartbeat at once. */
  beat(): Promise<void>
  list(): Promise<NodeReport[]>
  /** The last heartbeat: the node is gone for the others. */
  leave(): Promise<void>
  /** Milliseconds since the last heartbeat that is durable. */
  sinceHeartbeat(): number
}

export type NodesOptions = {
  database: PostgresDatabase
  standing: Standing
  clock: DatabaseClock
  node: Uint8Array
  /** Of the machine. */
  name: string
  /** Of the program. */
  version: string
  /** Whether the address names several servers. */
  hasOtherServers: boolean
  /** Milliseconds between heartbeats. */
  beatMs?: number
  /** Called after each heartbeat of the job: with null, or with what kept it from being written. */
  onBeat: (cause: unknown) => void
  save: (witness: SavedWitness) => Promise<void>
  /** Within the transaction of a heartbeat: what nodes that are gone have left behind. */
  clearUp: (session: Session) => Promise<void>
}

export function createNodes(options: NodesOptions): Nodes {
  const { database, standing, clock, node, name, version, save, clearUp, beatMs = BEAT_MS } = options
  const { hasOtherServers, onBeat } = options
  let timer: Timer | undefined
  let followTimer: Timer | undefined
  let beatAt = performance.now()
  let running: Promise<void> = Promise.resolve()

  /** `isLast`: resolves to whether no other node is alive. */
  async function beatIn(session: Session, isLast: boolean) {
    const state = await standing.look(session, { lock: true })
    if (standing.findProblem() !== null) {
      await halt(session, state)
      return null
    }
    clock.learn(state)
    await session.query(RAISE, [clock.certain(), clock.doubt()?.said ?? null, state.here])
    if (isLast) await session.query('DELETE FROM nodes WHERE id = $1', [node])
    else await session.query(SEE, [node, name, version])
    await session.query(`DELETE FROM nodes WHERE id NOT IN (${LIVE_NODES})`)
    await clearUp(session)
    const [others] = await session.query<{ count: number }>('SELECT count(*)::int AS count FROM nodes')
    const isFinal = isLast && others?.count === 0
    return { beats: state.beats + 1, savedAt: Math.floor(state.time), isFinal, flushes: state.flushes }
  }

  /** Lets the other nodes stop as well. */
  async function halt(session: Session, { halted }: InstanceState): Promise<void> {
    const problem = standing.findProblem()
    if (halted === null && problem?.isRestored) await haltNodes(session, problem.why)
  }

  async function beat(isLast = false): Promise<void> {
    const done = await database.transact((session) => beatIn(session, isLast))
    if (done === null) {
      // Another server of the address may have the right database by now.
      if (hasOtherServers) database.renew()
      return
    }
    standing.beat(done.beats)
    beatAt = performance.now()
    const { isFinal, savedAt, flushes } = done
    // Each new connection is refused, with the reason, until commits are durable again.
    if (!flushes) database.renew()
    await save({ ...standing.witness(), isFinal, savedAt, node: Buffer.from(node).toString('hex') })
  }

  /** One after the other. */
  function beatNext(isLast = false): Promise<void> {
    const next = running.then(() => beat(isLast))
    running = next.catch(() => undefined)
    return next
  }

  let told: string | null = null
  const job: Job = {
    name: 'heartbeat',
    start: (report) => {
      const run = () =>
        beatNext().then(
          () => {
            told = null
            onBeat(null)
            report.did()
          },
          (cause) => {
            onBeat(cause)
            report.failed(cause, { isTold: !isDomainError(cause) && String(cause) === told })
            told = String(cause)
          },
        )
      timer = setInterval(run, beatMs)
      if (hasOtherServers) followTimer = setInterval(() => void database.followFailover(), FOLLOW_MS)
    },
    stop: () => {
      clearInterval(timer)
      clearInterval(followTimer)
      return running
    },
  }

  const list = () => database.read((session) => listNodes(session, node))

  const sinceHeartbeat = () => performance.now() - beatAt
  return { job, beat: () => beatNext(), list, leave: () => beatNext(true), sinceHeartbeat }
}

/** `thisNode`: the id of this process; null for one that serves nothing. */
export function listNodes(
  { query }: Pick<Session, 'query'>,
  thisNode: Uint8Array | null,
): Promise<NodeReport[]> {
  return query<NodeReport>(LIST, [thisNode])
}

const LIST = `SELECT name, version, started_at::float8 AS "startedAt", seen_at::float8 AS "seenAt",
    (id = $1::bytea) IS TRUE AS "isThis", id IN (${LIVE_NODES}) AS "isAlive" FROM nodes ORDER BY started_at, id`

/** While the clock is trusted, an earlier doubt ends. */
const RAISE = `UPDATE instance SET beats = beats + 1, clock_mark = greatest(clock_mark, $1::bigint),
    clock_doubted = $2::bigint, place = $3`

const SEE = `INSERT INTO nodes (id, name, version, started_at, seen_at) VALUES ($1, $2, $3, ${DATABASE_TIME}, ${DATABASE_TIME})
  ON CONFLICT (id) DO UPDATE SET seen_at = EXCLUDED.seen_at`
