// All that remembers outside a database how far it was, for one node.

import { MINUTE } from '../../domain/time.ts'
import { createBucketWitness, type WatchedBucket } from './bucket-witness.ts'
import type { FolderWitness } from './folder-witness.ts'
import type { SavedWitness } from './saved-witness.ts'

export type Witnesses = {
  /** Null when no bucket remembers the instance with this tag, or when it does not answer. */
  readBucket(tag: string): Promise<SavedWitness | null>
  /** Resolves once the one in the folder is durable; the one in the bucket is written now and then. */
  save(witness: SavedWitness): Promise<void>
  /** Resolves once each is written, if its place can be written to. */
  saveAll(witness: SavedWitness): Promise<void>
  /** The same for the one in the bucket alone. */
  saveInBucket(witness: SavedWitness): Promise<void>
  /** Resolves once no write to the bucket is under way: what was saved stands there, if it can be written to. */
  settled(): Promise<void>
  /** A later state than the one of this node that the bucket held at the last write; null when it held none. */
  findLater(): SavedWitness | null
}

/** Each write to a bucket may cost money. */
export const BUCKET_MS = MINUTE

export function createWitnesses(
  folder: Pick<FolderWitness, 'write'>,
  watched: WatchedBucket | null,
  bucketMs = BUCKET_MS,
): Witnesses {
  const bucket = watched === null ? null : createBucketWitness(watched)
  let savedAt = Number.NEGATIVE_INFINITY
  let savedPlace: string | null = null
  let later: SavedWitness | null = null
  let writing = Promise.resolve()
  let waiting = 0

  /** One after the other: a slow write would undo a later one. */
  function toBucket(witness: SavedWitness): Promise<void> {
    savedAt = performance.now()
    savedPlace = witness.place
    waiting += 1
    writing = writing.then(() => writeToBucket(witness))
    return writing
  }

  async function writeToBucket(witness: SavedWitness): Promise<void> {
    try {
      later = (await bucket?.write(witness)) ?? null
    } catch {
      // What the bucket held last still counts. It is tried again with the next heartbeat.
      savedAt = Number.NEGATIVE_INFINITY
    } finally {
      waiting -= 1
    }
  }

  /** Nodes that reach only the former primary have to know soon that a standby took over. */
  const isDue = ({ place }: SavedWitness) =>
    waiting === 0 && (performance.now() - savedAt >= bucketMs || place !== savedPlace)

  async function save(witness: SavedWitness): Promise<void> {
    if (witness.isFinal) return saveAll(witness)
    if (isDue(witness)) void toBucket(witness)
    await folder.write(witness)
  }

  async function saveAll(witness: SavedWitness): Promise<void> {
    await Promise.all([folder.write(witness), toBucket(witness)])
  }

  return {
    readBucket: async (tag) => (await bucket?.read(tag).catch(() => null)) ?? null,
    save,
    saveAll,
    saveInBucket: toBucket,
    settled: () => writing,
    findLater: () => later,
  }
}
