// Opens the store of one node whose rows PostgreSQL keeps, in this order: folder, key, tables, instance, clock, operations.

import type { Keyring } from '../crypto/keyring.ts'
import { randomKey } from '../crypto/random.ts'
import { type Doubt, explainDoubt } from '../domain/clock.ts'
import type { Job } from '../domain/job.ts'
import type { Now } from '../domain/time.ts'
import { createDamage } from './damage.ts'
import { type DataFolder, dataFolder } from './folder/data-folder.ts'
import { createFolderChecks } from './folder/folder-checks.ts'
import { lockFolder } from './folder/folder-lock.ts'
import { createFreeSpace } from './folder/free-space.ts'
import { prepareNodeFolder } from './folder/node-folder.ts'
import type { OpenedStore } from './opened-store.ts'
import { createDatabaseClock, type DatabaseClock } from './postgres/engine/clock.ts'
import type { Connect } from './postgres/engine/connection.ts'
import { createDatabase, type PostgresDatabase } from './postgres/engine/database.ts'
import type { InstanceState } from './postgres/engine/instance.ts'
import { readNodeKeys } from './postgres/engine/key-file.ts'
import { migrate } from './postgres/engine/migrate.ts'
import { createNodes } from './postgres/engine/nodes.ts'
import { enterInstance } from './postgres/engine/opening.ts'
import { createPruningJob } from './postgres/engine/pruning.ts'
import { requireServer } from './postgres/engine/server-check.ts'
import { createStanding, type Standing } from './postgres/engine/standing.ts'
import { createDoubtedDates } from './postgres/expiry/doubted-dates.ts'
import { giveUpAbandoned } from './postgres/files/file-records.ts'
import { openNodeFiles } from './postgres/files/open-files.ts'
import { createPostgresOperations } from './postgres/operations.ts'
import { createQuickLook } from './postgres/quick-look.ts'
import { createSharedRows } from './postgres/shared/shared-state.ts'
import type { BucketSettings } from './s3/bucket.ts'
import { createWitnesses, type Witnesses } from './witness/witnesses.ts'

export type PostgresStoreOptions = {
  dataDir: string
  /** All nodes have the same instance key. */
  keyFile: string
  connect: Connect
  /** Called when the server cannot be used any more, once for each reason, and with null when it can again. */
  onState?: (cause: unknown) => void
  /** Most connections at once. */
  connections?: number
  /** The name of the machine, and the version of the program. */
  name: string
  version: string
  /** In place of the database's clock; null for that one. */
  systemNow: Now | null
  /** Milliseconds since the machine was started, also while it slept. */
  uptime: Now
  acceptClock: boolean
  /** Milliseconds since the last use beyond which a start doubts the clock. */
  maxClockGap: number
  /** Where the files are; null for the data folder. */
  bucket: BucketSettings | null
  /** Bytes of the disk that must stay free: creating is refused below. */
  minFreeSpace: number
  /** Is given a sentence for the operator. */
  onWarning: (warning: string) => void
  /** Something failed in the background; the store goes on. */
  onError: (cause: unknown) => void
  /** Milliseconds to wait for another node to tell that a standby took over, or to mark the bucket. */
  patience?: number
  /** Milliseconds between heartbeats. */
  beatMs?: number
}

const ID_BYTES = 16
/** More would wait for longer than a client should. */
const MANY_WAITING = 5000

/** Makes a missing folder, key and tables, and migrates. Throws `conflict` when the database may not be served. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<OpenedStore> {
  const folder = dataFolder(options.dataDir)
  const witnesses = createWitnesses(options.dataDir, options.bucket)
  prepareNodeFolder(folder, { keyFile: options.keyFile, witness: witnesses.path })
  const onWait = (holder: string) =>
    options.onWarning(`${folder.path} is in use: waiting for ${holder} to end`)
  const lock = await lockFolder(folder, { onWait })
  try {
    const opened = await openDatabase(options, { folder, witnesses })
    lock.opened()
    const close = () => opened.close().finally(lock.release)
    return { ...opened, close }
  } catch (cause) {
    lock.release()
    throw cause
  }
}

type Place = { folder: DataFolder; witnesses: Witnesses }

async function openDatabase(options: PostgresStoreOptions, { folder, witnesses }: Place) {
  const { connect, connections, keyFile, onWarning, patience } = options
  await requireServer(connect, onWarning)
  const saved = await witnesses.readFolder()
  const keyring = await readNodeKeys({ connect, keyFile, isNewFolder: saved === null })
  await migrate({ connect, onWarning })
  let standing: Standing | undefined
  const database = createDatabase({
    connect,
    ...(connections === undefined ? {} : { connections }),
    ...(options.onState === undefined ? {} : { onState: options.onState }),
    newOperationId: () => randomKey(ID_BYTES),
    onConnect: async (session) => void (await standing?.look(session)),
    onAcknowledged: (id) => standing?.remember(id),
  })
  try {
    const state = await enterInstance(database, {
      ...{ keyring, keyFile, onWarning, patience, inFolder: saved, witnessPath: witnesses.path },
      readOthers: witnesses.readBucket,
    })
    const clock = openClock(options, state)
    standing = openStanding(options, state, clock)
    const parts = { database, standing, clock, witnesses, folder, state, keyring }
    return { keyring, ...(await openParts(options, parts)), ...checksOf(options, { folder, keyring }) }
  } catch (cause) {
    await database.close()
    throw cause
  }
}

function openClock(options: PostgresStoreOptions, first: InstanceState): DatabaseClock {
  const { systemNow, uptime, acceptClock, maxClockGap, onWarning } = options
  const onChange = (doubt: Doubt | null) =>
    onWarning(doubt === null ? 'The clock of the database is trusted again.' : explainDoubt(doubt))
  return createDatabaseClock({ systemNow, uptime, first, accept: acceptClock, maxGap: maxClockGap, onChange })
}

function openStanding(
  { onWarning, uptime }: PostgresStoreOptions,
  state: InstanceState,
  clock: DatabaseClock,
) {
  return createStanding({
    state,
    observe: clock.observe,
    elapsed: uptime,
    onChange: (problem) => onWarning(problem ?? 'The database is served again.'),
  })
}

type Parts = {
  database: PostgresDatabase
  standing: Standing
  clock: DatabaseClock
  witnesses: Witnesses
  folder: DataFolder
  state: InstanceState
  keyring: Keyring
}

async function openParts(options: PostgresStoreOptions, parts: Parts) {
  const { database, standing, clock, witnesses, keyring } = parts
  const { acceptClock, onError } = options
  const { now, certain, observe } = clock
  const node = randomKey(ID_BYTES)
  const guarded = standing.guard(database)
  const dates = createDoubtedDates({ ...guarded, clock })
  const nodes = createNodes({
    ...options,
    ...parts,
    node,
    save: async (witness) => {
      await witnesses.save(witness)
      await dates.mend()
    },
    clearUp: (session) => giveUpAbandoned(session, certain()),
  })
  if (acceptClock) await acceptTime(database, now())
  await nodes.beat()
  const shared = createSharedRows({ ...guarded, now, certain, keyring, onError })
  const path = parts.folder.files
  const files = await openNodeFiles({ ...options, database: guarded, node, path, certain }).catch(
    async (cause) => {
      // Otherwise the others would take this node for alive.
      await nodes.leave().catch(() => undefined)
      throw cause
    },
  )
  const operations = createPostgresOperations({
    ...{ database: guarded, now, certain, observe, node, onError },
    onDue: files.removeDue,
  })

  const look = createQuickLook(database.read)

  async function accept(): Promise<void> {
    clock.accept()
    await nodes.beat()
  }

  async function close(): Promise<void> {
    await files.close()
    await operations.pushes.idle()
    await nodes.leave().catch(() => undefined)
    await database.close()
  }

  return {
    ...operations,
    shared: shared.state,
    files: files.store,
    bucket: files.bucket,
    now,
    certain,
    clock: { doubt: clock.doubt, accept },
    damage: createDamage(onError),
    isOverloaded: () => operations.pushes.countWaiting() > MANY_WAITING,
    commitOverdue: () => undefined,
    waitingWorks: operations.pushes.countWaiting,
    jobs: [
      nodes.job,
      shared.job,
      createPruningJob({ database: guarded, elapsed: options.uptime }),
      ...files.jobs,
    ] as readonly Job[],
    database: {
      look,
      count: database.count,
      sinceHeartbeat: nodes.sinceHeartbeat,
      listNodes: nodes.list,
      findRefusal: () => standing.findProblem()?.why ?? null,
    },
    explainFailure: (cause: unknown) => cause,
    confirmStart: () => undefined,
    isAlive: async () => (await look()) !== null,
    close,
  }
}

/** Only here does the mark go back. */
function acceptTime({ transact }: PostgresDatabase, time: number): Promise<void> {
  return transact(async ({ query }) => {
    await query('UPDATE instance SET clock_mark = $1, clock_doubted = NULL', [time])
  })
}

type Checked = { folder: DataFolder; keyring: Parameters<typeof createFolderChecks>[0]['keyring'] }

function checksOf({ keyFile, bucket, minFreeSpace }: PostgresStoreOptions, { folder, keyring }: Checked) {
  const floor = bucket === null ? minFreeSpace : 0
  return {
    freeSpace: createFreeSpace({ path: folder.path, floor, isFull: () => false }),
    ...createFolderChecks({ written: [folder.path], keyFile, keyring }),
  }
}
