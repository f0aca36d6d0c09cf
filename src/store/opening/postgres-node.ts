// What one node runs over a database that it may serve: its heartbeats, what it shares with others, its files, and the operations.

import type { Keyring } from '../../crypto/keyring.ts'
import type { Job } from '../../domain/job.ts'
import { createDamage } from '../every-engine/damage.ts'
import { giveUpAbandoned } from '../files/file-records.ts'
import { openFiles } from '../files/open-files.ts'
import type { PostgresDatabase, Session } from '../postgres/engine/database.ts'
import { createPruningJob } from '../postgres/engine/pruning.ts'
import { createSteps, drive } from '../postgres/engine/run-steps.ts'
import type { DatabaseClock } from '../postgres/instance/clock.ts'
import { createKeyWatch, type KeyWatch } from '../postgres/instance/key-watch.ts'
import { listLiveNodes } from '../postgres/instance/node-rows.ts'
import { createNodes, type Nodes } from '../postgres/instance/nodes.ts'
import type { Standing } from '../postgres/instance/standing.ts'
import { createPostgresOperations } from '../postgres/operations.ts'
import { createQuickLook } from '../postgres/quick-look.ts'
import { createSharedRows } from '../postgres/shared/shared-state.ts'
import { setBackSome } from '../pushes/doubted-dates.ts'
import type { PostgresStoreOptions } from './postgres-options.ts'

/** More would wait for longer than a client should. */
const MANY_WAITING = 5000

export type NodeParts = {
  database: PostgresDatabase
  standing: Standing
  clock: DatabaseClock
  keyring: Keyring
  /** Of the files, if they are on the disk. */
  path: string
}

/** The same database, which refuses everything while nothing may be served. */
type Guarded = ReturnType<Standing['guard']>

export async function openNode(options: PostgresStoreOptions, parts: NodeParts) {
  const { database, standing, clock, keyring, path } = parts
  const { now, trusted } = clock
  const { onError } = options
  const { node } = standing
  const guarded = standing.guard(database)
  const keys = createKeyWatch({ ...options, keyring, elapsed: options.clock.uptime })
  const nodes = await join(options, parts, { guarded, keys })
  const shared = createSharedRows({ ...guarded, now, trusted, keyring, onError })
  const address = `${path} on the disk of the node ${options.label.name}`
  const findOther = async () =>
    (await nodes.list()).find(({ isThis, isAlive }) => isAlive && !isThis)?.name ?? null
  const steps = createSteps({ ...guarded, onDue: () => undefined })
  const opening = openFiles({ ...options, steps, node, path, address, findOther, now })
  const files = await leavingOnFailure(nodes, opening)
  const onDue = files.removeDue
  const damage = createDamage(onError)
  const operations = createPostgresOperations({
    database: guarded,
    now,
    trusted,
    node,
    damage,
    onDue,
  })
  const pruning = createPruningJob({ database: guarded, elapsed: options.clock.uptime })
  const waitingWorks = () => database.count().connections.waiting
  const jobs: readonly Job[] = [nodes.job, shared.job, pruning]

  async function close(): Promise<void> {
    await files.close()
    await nodes.leave().catch(() => undefined)
    await database.close()
  }

  return {
    ...operations,
    ...reportsOf(options, parts, { nodes, keys }),
    keys,
    ...{ shared: shared.state, files: files.store, bucket: files.bucket, now, jobs },
    clock: { trusted, doubt: clock.doubt, accept: () => acceptClock(clock, nodes) },
    damage,
    isOverloaded: () => waitingWorks() > MANY_WAITING,
    waitingWorks,
    commitOverdue: () => undefined,
    explainFailure: (cause: unknown) => cause,
    confirmStart: () => undefined,
    close,
  }
}

type Joining = { guarded: Guarded; keys: KeyWatch }

/** Resolves once the first heartbeat is durable. */
async function join(
  options: PostgresStoreOptions,
  parts: NodeParts,
  { guarded, keys }: Joining,
): Promise<Nodes> {
  const { database, clock } = parts
  const dates = createDates(guarded, clock)
  const nodes = createNodes({
    ...options.label,
    ...parts,
    keys,
    beatMs: options.pace?.beatMs,
    onBeat: options.outage?.onBeat ?? (() => undefined),
    onDurable: dates.mend,
    clearUp: (session) => clearUp(session, clock.now()),
  })
  if (options.clock.accept) await writeTime(database, clock.now())
  await nodes.beat()
  return nodes
}

/** Within a transaction: what nodes that are gone have not finished. */
async function clearUp(session: Session, now: number): Promise<void> {
  const alive = new Set((await listLiveNodes(session)).map(({ id }) => id.toHex()))
  await drive(
    giveUpAbandoned((node) => alive.has(node.toHex()), now),
    session,
  )
}

/** Once after each doubt moves the dates back of pushes that were made while the clock was ahead. */
function createDates(guarded: Guarded, clock: DatabaseClock): { mend(): Promise<void> } {
  const { write } = createSteps({ ...guarded, onDue: () => undefined })
  let mended = 0

  async function mend(): Promise<void> {
    const ahead = clock.wasAhead()
    if (ahead === mended || clock.doubt() !== null) return
    let before: number | null = Number.MAX_SAFE_INTEGER
    while (before !== null) before = await write(pieceBefore(before))
    mended = ahead
  }

  const pieceBefore = (before: number) => () => setBackSome(before, clock)
  return { mend }
}

/** A node that fails to start leaves again, because the others would take it for alive. */
async function leavingOnFailure<T>(nodes: Nodes, opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (cause) {
    await nodes.leave().catch(() => undefined)
    throw cause
  }
}

/** Only here does the mark go back. */
function writeTime({ transact }: PostgresDatabase, time: number): Promise<void> {
  return transact(async ({ query }) => {
    await query('UPDATE instance SET clock_mark = $1, clock_doubted = NULL', [time])
  })
}

async function acceptClock(clock: DatabaseClock, nodes: Nodes): Promise<void> {
  clock.accept()
  await nodes.beat()
}

/** What an operator is told of the database. */
function reportsOf(
  { outage }: PostgresStoreOptions,
  { database, standing }: NodeParts,
  { nodes, keys }: { nodes: Nodes; keys: KeyWatch },
) {
  const look = createQuickLook(database.read)
  return {
    database: {
      look,
      count: database.count,
      sinceHeartbeat: nodes.sinceHeartbeat,
      listNodes: nodes.list,
      findKeyLack: keys.findLack,
      findRefusal: standing.problem,
      explainLoss: outage?.explainLoss ?? (() => null),
      isOut: () => outage?.isOn() || standing.problem() !== null || database.isFull(),
      isFull: database.isFull,
    },
    isAlive: async () => (await look()) !== null,
  }
}
