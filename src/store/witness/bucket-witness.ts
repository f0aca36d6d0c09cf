// What all nodes together remember of their database in the bucket of their files, which outlives each of their machines.
//
// Others may be able to write there. So each witness is signed with the instance key, and what is not counts as nothing. An earlier
// one that somebody brings back says less than the last one, and never more than none would: it cannot vouch for a database.
// Two nodes may write at the same time, and the earlier state may stay for a while: the next write mends that.

import type { Keyring } from '../../crypto/keyring.ts'
import { nameBucket } from '../../domain/bucket-place.ts'
import { findOvertaking } from '../../domain/database-place.ts'
import { HOUR } from '../../domain/time.ts'
import type { BucketOptions } from '../s3/bucket.ts'
import { openObjects } from '../s3/open-objects.ts'
import type { SeenWitness } from './other-writer.ts'
import type { SavedWitness } from './saved-witness.ts'
import { parseSigned, presentSigned, type Unauthentic } from './signed-witness.ts'

export type WitnessBucket = Pick<BucketOptions, 'place' | 'credentials' | 'patience'>

/** A bucket, and the keys by which its witnesses are told from those of others. */
export type WatchedBucket = {
  bucket: WitnessBucket
  keyring: Keyring
  /** Told of a witness that was not signed by a node of the instance. */
  onWarning: (warning: string) => void
}

export type BucketWitness = {
  /** Null when nothing lies there for the instance with this tag. Throws S3Failure. */
  look(tag: string): Promise<SeenWitness | null>
  /**
   * What was remembered of the instance with this tag. It never vouches for a database: `isFinal` is false. Null when there is none
   * that was signed. Throws S3Failure.
   */
  read(tag: string): Promise<SavedWitness | null>
  /** Keeps a later state that is there already, and resolves to it; otherwise to null. Throws S3Failure. */
  write(witness: SavedWitness): Promise<SavedWitness | null>
}

/** A bucket that fails is reported by those who keep files in it. */
export function createBucketWitness({ bucket, keyring, onWarning }: WatchedBucket): BucketWitness {
  const { put, readDated } = openObjects(bucket).objects
  const signing = { keyring, place: bucket.place }
  const keyOf = (tag: string) => `${bucket.place.prefix}_witness-${tag}`
  const warn = everyHour((found: Unauthentic) =>
    onWarning(explain(found, { name: nameBucket(bucket.place), key: keyOf('…') })),
  )

  async function look(tag: string): Promise<SeenWitness | null> {
    const found = await readDated(keyOf(tag))
    if (found === null) return null
    const parsed = parseSigned(Buffer.from(found.bytes).toString('utf8'), tag, signing)
    const witness = 'witness' in parsed ? parsed.witness : null
    if (!('witness' in parsed)) warn(parsed)
    return { witness, age: Math.max(0, found.now - found.modifiedAt || 0) }
  }

  async function read(tag: string): Promise<SavedWitness | null> {
    const witness = (await look(tag))?.witness ?? null
    return witness === null ? null : { ...witness, isFinal: false }
  }

  async function write(witness: SavedWitness): Promise<SavedWitness | null> {
    const found = await read(witness.tag)
    if (found !== null && isLater(found, witness)) return found
    await put(keyOf(witness.tag), Buffer.from(presentSigned(witness, signing)))
    return null
  }

  return { look, read, write }
}

/** Somebody may put something there again and again. */
function everyHour<T>(tell: (found: T) => void): (found: T) => void {
  let told = Number.NEGATIVE_INFINITY
  return (found) => {
    if (performance.now() - told < HOUR) return
    told = performance.now()
    tell(found)
  }
}

function explain({ key }: Unauthentic, place: { name: string; key: string }): string {
  const ignored = `The bucket ${place.name} cannot tell whether this database was set back: what lies there (${place.key})`
  return key === null
    ? `${ignored} was not written by its nodes, and is ignored. See who else can write to the bucket, and that all nodes and ` +
        'commands have the same key file.'
    : `${ignored} was signed with key ${key}, which is not in the key file here, and is ignored. Give all nodes the same key file.`
}

function isLater(one: SavedWitness, other: SavedWitness): boolean {
  if (one.restoredAt !== other.restoredAt) return one.restoredAt > other.restoredAt
  if (isOvertaken(one, other) || isOvertaken(other, one)) return isOvertaken(other, one)
  return one.beats > other.beats
}

/** A former primary may have counted on. */
const isOvertaken = (one: SavedWitness, by: SavedWitness) =>
  one.place !== null && findOvertaking({ here: one.place, known: by.place }) !== null
