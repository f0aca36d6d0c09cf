// Opens the store of one node whose rows PostgreSQL keeps, in this order: key, tables, clock, operations.

import { randomKey } from '../crypto/random.ts'
import { createClock } from '../domain/clock.ts'
import type { Job } from '../domain/job.ts'
import type { Now } from '../domain/time.ts'
import { dataFolder } from './folder/data-folder.ts'
import { createFolderChecks } from './folder/folder-checks.ts'
import { createFreeSpace } from './folder/free-space.ts'
import { readKeyFile } from './folder/key-file.ts'
import type { Connect } from './postgres/engine/connection.ts'
import { createDatabase } from './postgres/engine/database.ts'
import { migrate } from './postgres/engine/migrate.ts'
import { createPostgresOperations } from './postgres/operations.ts'
import type { BucketSettings } from './s3/bucket.ts'

export type PostgresStoreOptions = {
  dataDir: string
  /** All nodes have the same instance key. */
  keyFile: string
  connect: Connect
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
}

const OPERATION_ID_BYTES = 16
const NODE_ID_BYTES = 16

/** Makes a missing folder and tables, and migrates. */
export async function openPostgresStore(options: PostgresStoreOptions) {
  const { connect, onError, onWarning } = options
  const folder = dataFolder(options.dataDir)
  const keyring = readKeyFile(options.keyFile)
  await migrate({ connect, onWarning })
  const database = createDatabase({ connect, newOperationId: () => randomKey(OPERATION_ID_BYTES) })
  const clock = createClock({
    systemNow: options.systemNow ?? (() => 0),
    uptime: options.uptime,
    stored: { mark: 0, doubted: null },
    maxGap: options.maxClockGap,
    onChange: () => undefined,
  })
  const { now, certain } = clock
  const node = randomKey(NODE_ID_BYTES)
  const observe = () => undefined
  const operations = createPostgresOperations({ database, now, certain, observe, node, onError })
  return {
    ...operations,
    keyring,
    now,
    certain,
    clock: { doubt: clock.doubt, accept: async () => clock.accept() },
    freeSpace: createFreeSpace({ path: folder.path, floor: options.minFreeSpace, isFull: () => false }),
    isOverloaded: () => false,
    commitOverdue: () => undefined,
    waitingWorks: () => 0,
    jobs: [] as readonly Job[],
    explainFailure: (cause: unknown) => cause,
    confirmStart: () => undefined,
    isAlive: async () => true,
    ...createFolderChecks({ folder, keyFile: options.keyFile, keyring }),
    close: database.close,
  }
}
