// What all nodes together remember of their database in the bucket of their files, which outlives each of their machines.
//
// Two nodes may write at the same time, and the earlier state may stay for a while: the next write mends that.

import { findOvertaking } from '../../domain/database-place.ts'
import type { BucketOptions } from '../s3/bucket.ts'
import { openObjects } from '../s3/open-objects.ts'
import type { SeenWitness } from './other-writer.ts'
import { parseWitness, presentWitness, type SavedWitness } from './saved-witness.ts'

export type WitnessBucket = Pick<BucketOptions, 'place' | 'credentials' | 'patience'>

export type BucketWitness = {
  /** Null when nothing is remembered of the instance with this tag. Throws S3Failure. */
  look(tag: string): Promise<SeenWitness | null>
  /** What was remembered of the instance with this tag. Null when nothing was, or when the bucket does not answer. */
  read(tag: string): Promise<SavedWitness | null>
  /** Keeps a later state that is there already, and resolves to it; otherwise to null. Throws S3Failure. */
  write(witness: SavedWitness): Promise<SavedWitness | null>
}

/** A bucket that fails is reported by those who keep files in it. */
export function createBucketWitness(bucket: WitnessBucket): BucketWitness {
  const { put, readDated } = openObjects(bucket).objects
  const keyOf = (tag: string) => `${bucket.place.prefix}_witness-${tag}`

  async function look(tag: string): Promise<SeenWitness | null> {
    const found = await readDated(keyOf(tag))
    const witness = found === null ? null : parseWitness(Buffer.from(found.bytes).toString('utf8'))
    if (found === null || witness === null) return null
    return { witness, age: Math.max(0, found.now - found.modifiedAt || 0) }
  }

  async function find(tag: string): Promise<SavedWitness | null> {
    return (await look(tag))?.witness ?? null
  }

  async function write(witness: SavedWitness): Promise<SavedWitness | null> {
    const found = await find(witness.tag)
    if (found !== null && isLater(found, witness)) return found
    await put(keyOf(witness.tag), Buffer.from(presentWitness(witness)))
    return null
  }

  return { look, read: (tag) => find(tag).catch(() => null), write }
}

function isLater(one: SavedWitness, other: SavedWitness): boolean {
  if (one.restoredAt !== other.restoredAt) return one.restoredAt > other.restoredAt
  if (isOvertaken(one, other) || isOvertaken(other, one)) return isOvertaken(other, one)
  return one.beats > other.beats
}

/** A former primary may have counted on. */
const isOvertaken = (one: SavedWitness, by: SavedWitness) =>
  one.place !== null && findOvertaking({ here: one.place, known: by.place }) !== null
