// Numbers about the instance for its administrators, without anything that was pushed.

import type { Doubt } from '../domain/clock.ts'
import { MINUTE, type Now, SECOND } from '../domain/time.ts'
import type { LastSweep, Sweeper } from '../pushes/sweeper.ts'
import type { DatabaseReport, NodeReport } from '../store/database-face.ts'
import type { PushCounts, Store } from '../store/face.ts'

export type Status = PushCounts & {
  /** Bytes of the disk that holds the data folder. */
  free: number
  total: number
  /** False when rows and files are elsewhere, so that nobody needs room there. */
  needsDisk: boolean
  /** The name of the bucket that holds the files; null when they are in the data folder. */
  bucket: string | null
  /** Null when rows are in the data folder. */
  database: DatabaseStatus | null
  lastSweep: LastSweep | null
  /** Null when the clock is trusted. */
  doubt: Doubt | null
}

export type DatabaseStatus = {
  /** Server and database, without the login. */
  name: string
  /** Those that serve, in the order of their starts. */
  nodes: ServingNode[]
  /** The newest version, and how many nodes have an older one; null when all have the same. */
  upgrade: { newest: string; older: number } | null
}

export type ServingNode = Pick<NodeReport, 'name' | 'version' | 'startedAt' | 'isThis'> & {
  /** Milliseconds since its last heartbeat. */
  silence: number
  /** Whether it has missed more than one. */
  isSilent: boolean
  /** Whether another node has a newer version. */
  isOlder: boolean
}

/** Nodes write a heartbeat every five seconds. */
const SILENT_MS = 12 * SECOND

export type StatusOptions = {
  countPushes: () => Promise<PushCounts>
  store: Pick<Store, 'freeSpace' | 'bucket'> & { database: DatabaseReport | null }
  /** Of the database server. */
  databaseName: string
  sweeper: Sweeper
  now: Now
  doubt: () => Doubt | null
}

/** Counts at most once a minute, because that walks an index. */
export function createCountPushes({ lists, now }: Pick<Store, 'lists'> & { now: Now }) {
  let counted: { at: number; counts: PushCounts } | null = null
  return async (): Promise<PushCounts> => {
    if (counted === null || now() - counted.at >= MINUTE)
      counted = { at: now(), counts: await lists.countPushes() }
    return counted.counts
  }
}

export function createReadStatus(options: StatusOptions): () => Promise<Status> {
  const { countPushes, store, sweeper, now, doubt, databaseName } = options
  return async () => ({
    ...(await countPushes()),
    ...(await store.freeSpace.measure()),
    needsDisk: store.database === null || store.bucket === null,
    bucket: store.bucket?.name ?? null,
    database: store.database && (await lookAtDatabase(store.database, { name: databaseName, now: now() })),
    lastSweep: sweeper.last(),
    doubt: doubt(),
  })
}

async function lookAtDatabase(
  { listNodes }: DatabaseReport,
  { name, now }: { name: string; now: number },
): Promise<DatabaseStatus> {
  return { name, ...describeNodes(await listNodes(), now) }
}

/** `now`: by the clock of the database, which wrote down when each was seen. */
export function describeNodes(
  listed: readonly NodeReport[],
  now: number,
): Pick<DatabaseStatus, 'nodes' | 'upgrade'> {
  const alive = listed.filter(({ isAlive }) => isAlive)
  const newest =
    alive
      .map(({ version }) => version)
      .sort(Bun.semver.order)
      .at(-1) ?? ''
  const nodes = alive.map(({ name, version, startedAt, seenAt, isThis }) => {
    const silence = Math.max(0, now - seenAt)
    const isOlder = Bun.semver.order(version, newest) < 0
    const shown = { name, version, startedAt, isThis }
    return { ...shown, silence, isSilent: silence > SILENT_MS, isOlder }
  })
  const older = nodes.filter(({ isOlder }) => isOlder).length
  return { nodes, upgrade: older === 0 ? null : { newest, older } }
}
