// The statistics of the instance that administrators see. They contain no content of pushes.

import type { Doubt } from '../domain/clock.ts'
import type { PushCounts } from '../domain/listing.ts'
import { MINUTE, type Now, SECOND } from '../domain/time.ts'
import type { Sweeper } from '../pushes/sweeper.ts'
import type { Store } from '../store/contract.ts'
import type { DatabaseReport, NodeReport } from '../store/database-contract.ts'

export type Status = Awaited<ReturnType<ReturnType<typeof createReadStatus>>>

/** Nodes write a heartbeat every five seconds. */
const SILENT_MS = 12 * SECOND

type StatusOptions = {
  countPushes: () => Promise<PushCounts>
  store: Pick<Store, 'freeSpace' | 'bucket'> & { database: DatabaseReport | null }
  /** Server and database, without the login; empty when rows are in the data folder. */
  databaseName: string
  sweeper: Sweeper
  now: Now
  doubt: () => Doubt | null
}

/** Counts pushes at most once a minute, because counting walks an index. */
export function createCountPushes({ health, now }: Pick<Store, 'health'> & { now: Now }) {
  let counted: { at: number; counts: PushCounts } | null = null
  return async (): Promise<PushCounts> => {
    if (counted === null || now() - counted.at >= MINUTE)
      counted = { at: now(), counts: await health.countPushes() }
    return counted.counts
  }
}

export function createReadStatus(options: StatusOptions) {
  const { countPushes, store, sweeper, now, doubt, databaseName: name } = options
  const { database, bucket, freeSpace } = store
  return async () => ({
    ...(await countPushes()),
    /** Free and total bytes of the data folder's disk. */
    ...(await freeSpace.measure()),
    /** False if rows and files are elsewhere, so that pushes need no space on that disk. */
    needsDisk: database === null || bucket === null,
    /** The name of the bucket that holds the files; null when they are in the data folder. */
    bucket: bucket?.name ?? null,
    /**
     * The database server; null when rows are in the data folder. `name`: server and database, without the
     * login.
     */
    database: database && { name, ...describeNodes(await database.listNodes(), now()) },
    lastSweep: sweeper.last(),
    /** The reason to doubt the clock; null while it is trusted. */
    doubt: doubt(),
  })
}

export type DatabaseStatus = { name: string } & ReturnType<typeof describeNodes>
export type ServingNode = DatabaseStatus['nodes'][number]

/**
 * Presents the running nodes, in the order of their starts: how long each has been silent, whether it missed
 * more than one heartbeat, and whether another node has a newer version. `upgrade` is null if all have the
 * same version. `now` is read from the database's clock, which recorded the heartbeats.
 */
export function describeNodes(listed: readonly NodeReport[], now: number) {
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
