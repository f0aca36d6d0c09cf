// Refuses what would harm another database: nodes that serve the original of a copy with the same bucket or the same data folder.

import { existsSync } from 'node:fs'
import { nameBucket } from '../../domain/bucket-place.ts'
import { DomainError } from '../../domain/errors.ts'
import { MINUTE, SECOND } from '../../domain/time.ts'
import { dataFolder } from '../folder/data-folder.ts'
import { isServed } from '../folder/folder-lock.ts'
import type { PostgresDatabase } from '../postgres/engine/database.ts'
import { S3Failure } from '../s3/failures.ts'
import { createBucketWitness, type WatchedBucket } from '../witness/bucket-witness.ts'
import { createFolderWitness } from '../witness/folder-witness.ts'
import { createWriterWatch, type SeenWitness } from '../witness/other-writer.ts'
import type { SavedWitness } from '../witness/saved-witness.ts'
import { BUCKET_MS } from '../witness/witnesses.ts'

export type OtherNodesOptions = {
  database: Pick<PostgresDatabase, 'read'>
  /** Of the instance, and the time of its server when this began. */
  instance: { tag: string; time: number }
  bucket: WatchedBucket | null
  dataDir: string
  /** Told every few seconds: where it looks, and how many seconds are left. */
  onWait: (place: string, seconds: number) => void
  /** Milliseconds within which a node that lives writes, for tests. */
  writtenEvery?: { bucket: number; folder: number }
}

/** A heartbeat later, and as long as a slow bucket may take. */
export const WRITTEN_EVERY = { bucket: BUCKET_MS + 15 * SECOND, folder: 15 * SECOND }

/** The original of a copy may have another server, whose clock differs. */
const CLOCKS_APART = 10 * MINUTE

export type OtherNodes = {
  /** Waits until nodes that live would have been noticed. Throws `conflict` when another database has some. */
  wait(): Promise<void>
  /** Throws `conflict` when one was noticed since. `isChanged`: whether something was changed already. */
  glance(options?: { isChanged: boolean }): Promise<void>
}

export function createOtherNodes(options: OtherNodesOptions): OtherNodes {
  const { database, instance, bucket, dataDir, onWait, writtenEvery = WRITTEN_EVERY } = options

  const isOurs = async (node: string) => {
    const rows = await database.read(({ query }) => query(SERVES, [Buffer.from(node, 'hex'), instance.time]))
    return rows.length > 0
  }
  const isFresh = ({ savedAt }: SavedWitness) => savedAt > instance.time - CLOCKS_APART
  const watch = (place: Place, every: number) => {
    const tell = (left: number) => onWait(place.name, Math.ceil(left / SECOND))
    return {
      ...createWriterWatch({ ...place, isOurs, isFresh, writtenEvery: every, onWait: tell }),
      ...place,
    }
  }
  const watches = [watch(folderPlace(dataDir), writtenEvery.folder)]
  if (bucket !== null) watches.push(watch(bucketPlace(bucket, instance.tag), writtenEvery.bucket))

  async function refuseOthers(how: 'wait' | 'glance', done: string): Promise<void> {
    for (const watched of watches) {
      const other = await watched[how]()
      if (other !== null) throw watched.refusal(other, done)
    }
  }

  return {
    wait: () => refuseOthers('wait', UNCHANGED),
    glance: ({ isChanged } = { isChanged: false }) => refuseOthers('glance', isChanged ? HALTED : UNCHANGED),
  }
}

const UNCHANGED = 'Nothing was changed.'
const HALTED = 'The pushes of this database have expired, and no node serves it: run this again afterwards.'

/** A copy has the rows of the nodes that served the original, but they do not go on there. */
const SERVES = 'SELECT 1 FROM nodes WHERE id = $1 AND seen_at > $2'

/** `look` finds what was written there last. `refusal` says that another database wrote it, and what was `done` here. */
type Place = {
  name: string
  look: () => Promise<SeenWitness | null>
  isTaken?: () => boolean
  refusal: (by: SavedWitness, done: string) => DomainError
}

function folderPlace(dataDir: string): Place {
  const witness = createFolderWitness(dataDir)
  // A node that starts holds the folder before it writes there.
  const isTaken = () => isServed(dataFolder(dataDir))
  async function look(): Promise<SeenWitness | null> {
    if (!existsSync(witness.path) || !isTaken()) return null
    const found = await witness.read().catch(() => null)
    return found === null ? null : { witness: found, age: 0 }
  }
  const refusal = (_: SavedWitness, done: string) => folderShared(dataDir, done)
  return { name: `the data folder ${dataDir}`, look, isTaken, refusal }
}

function bucketPlace(watched: WatchedBucket, tag: string): Place {
  const name = `the bucket ${nameBucket(watched.bucket.place)}`
  const { look } = createBucketWitness(watched)
  const explain = (cause: unknown) => {
    throw cause instanceof S3Failure ? unreadable(name, cause.message) : cause
  }
  return { name, look: () => look(tag).catch(explain), refusal: (by, done) => bucketShared(name, by, done) }
}

function bucketShared(name: string, { node }: SavedWitness, done: string): DomainError {
  return new DomainError(
    'conflict',
    `Another database is served with the files in ${name}: its node ${node?.slice(0, 8)} wrote there a moment ago. ${done} ` +
      'If this database is a copy to try a restore, give it a bucket or a prefix of its own with --files-url, here and for ' +
      'its nodes. If it takes the place of the other one, stop all nodes of the other one first.',
  )
}

function folderShared(dataDir: string, done: string): DomainError {
  return new DomainError(
    'conflict',
    `A node that serves another database uses the data folder ${dataDir}. ${done} If this database is a copy to try ` +
      'a restore, name another folder with --data-dir. If it takes the place of the other one, stop that node first.',
  )
}

function unreadable(name: string, why: string): DomainError {
  return new DomainError(
    'conflict',
    `Nobody can tell whether another database is served with the files in ${name}, because ${why}. Nothing was changed. See that ` +
      'it works, and run this again; if it is lost for good, leave --files-url out here.',
  )
}
