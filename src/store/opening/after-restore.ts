// Expires every push of a database that was set back, so that nodes may serve it again. For a command beside the nodes.

import { existsSync } from 'node:fs'
import type { Keyring } from '../../crypto/keyring.ts'
import type { Visit } from '../../domain/audit.ts'
import { DomainError } from '../../domain/errors.ts'
import { SECOND } from '../../domain/time.ts'
import { readKeyFile } from '../folder/key-file.ts'
import type { Connect } from '../postgres/engine/connection.ts'
import { createDatabase, type PostgresDatabase } from '../postgres/engine/database.ts'
import { requireServer } from '../postgres/engine/server-check.ts'
import { findFolderTag, sessionsOf } from '../postgres/files/folder-sessions.ts'
import { readInstance } from '../postgres/instance/instance.ts'
import { readKeys, requireKnownKeys } from '../postgres/instance/instance-keys.ts'
import {
  countLive,
  expireEverything,
  haltWhileRestoring,
  resumeNodes,
} from '../postgres/restoring/after-restore.ts'
import { watchCopiedNodes } from '../postgres/restoring/copied-nodes.ts'
import { migrate } from '../postgres/schema/migrate.ts'
import { S3Failure } from '../s3/failures.ts'
import { markAlone } from '../s3/mark-object.ts'
import type { WitnessBucket } from '../witness/bucket-witness.ts'
import { createFolderWitness } from '../witness/folder-witness.ts'
import { createWitnesses } from '../witness/witnesses.ts'
import { createOtherNodes, type OtherNodesOptions, WRITTEN_EVERY } from './other-nodes.ts'

export type AfterRestoreOptions = {
  connect: Connect
  /** Of this node: what it remembers of the database is renewed. It may be missing. */
  dataDir: string
  /** That of the files, which remembers too, and the key file of the nodes; null when they are on a disk. */
  bucket: (WitnessBucket & { keyFile: string }) | null
  onWarning: (warning: string) => void
  onWait?: OtherNodesOptions['onWait']
  /** Milliseconds within which a node that lives writes, for tests. */
  writtenEvery?: NonNullable<OtherNodesOptions['writtenEvery']>
}

export type AfterRestore = {
  /** Pushes that would be expired. */
  livePushes: number
  /** Why nodes do not serve, as they found it; null when none has noticed anything. */
  halted: string | null
  /**
   * Expires every push, and ends all sessions and links of accounts. Goes on where an earlier run was broken off. Resolves to
   * the number of pushes that were expired.
   */
  run(options: RunOptions): Promise<number>
  close(): Promise<void>
}

/** `now` is the database's clock unless a test sets it, in milliseconds since 1970. */
export type RunOptions = { visit: Visit; now?: number; onProgress: (done: number, total: number) => void }

const CONNECTIONS = 2
/**
 * Migrates a database that is older than the program. Throws `conflict` for one that this node does not know, and while another
 * database is served with the same files.
 */
export async function openAfterRestore(options: AfterRestoreOptions): Promise<AfterRestore> {
  const { connect, dataDir, bucket, onWarning, onWait = NOTHING, writtenEvery = WRITTEN_EVERY } = options
  const witness = createFolderWitness(dataDir)
  const watched = bucket === null ? null : { bucket, keyring: readKeyFile(bucket.keyFile), onWarning }
  const witnesses = createWitnesses(witness, watched)
  const inFolder = await witness.read().catch(() => null)
  await requireServer(connect, NOTHING)
  await migrate({ connect, onWarning })
  const database = createDatabase({ connect, connections: CONNECTIONS })
  try {
    const { tag, halted, time } = await database.read((session) => readInstance(session))
    if (inFolder !== null && inFolder.tag !== tag)
      throw new DomainError('conflict', foreignText(witness.path))
    if (watched !== null) await requireKeys(database, watched.keyring, bucket?.keyFile ?? '')
    const instance = { tag, time }
    const others = createOtherNodes({ ...options, onWait, bucket: watched, database, instance })
    const copied = await watchCopiedNodes(database, {
      writtenEvery: writtenEvery.folder,
      onWait: (left) => onWait('this database', Math.ceil(left / SECOND)),
    })
    await others.wait()
    await copied.wait()
    const known = [inFolder, await witnesses.readBucket(tag)].flatMap((one) => one ?? [])
    const run = async (asked: RunOptions) => {
      await others.glance()
      await haltWhileRestoring(database)
      const lost = await expireEverything(database, { now: Math.floor(time), ...asked })
      // A node of the original may have started meanwhile. Until nodes serve, none removes a file.
      await others.glance({ isChanged: true })
      await copied.remove()
      if (bucket !== null) await markBucket(database, bucket)
      const { time: savedAt, ...rest } = await resumeNodes(database, known)
      const renewed = { ...rest, operations: [], isFinal: false, savedAt, node: null }
      await (existsSync(dataDir) ? witnesses.saveAll(renewed) : witnesses.saveInBucket(renewed))
      return lost
    }
    return { livePushes: await countLive(database), halted, run, close: database.close }
  } catch (cause) {
    await database.close()
    throw cause
  }
}

const NOTHING = () => undefined

/** With another key, everything in the bucket would seem to come from others. */
function requireKeys({ read }: PostgresDatabase, keyring: Keyring, keyFile: string): Promise<void> {
  return read(async (session) => requireKnownKeys(await readKeys(session), keyring, keyFile))
}

/** Nobody else uses the files there, so nodes need not wait before they remove what has expired. */
async function markBucket({ read }: PostgresDatabase, bucket: WitnessBucket): Promise<void> {
  const tag = await read(findFolderTag)
  if (tag === null) return
  // Otherwise they wait half an hour.
  await markAlone(bucket, { tag, sessions: sessionsOf(read) }).catch((cause) => {
    if (!(cause instanceof S3Failure)) throw cause
  })
}

function foreignText(path: string): string {
  return (
    'This data folder served another database than the one of --database-url, and nothing was changed. Name the right one; if ' +
    `the former database is gone for good, remove ${path}.`
  )
}
