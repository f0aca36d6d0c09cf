// The location of a database's files: one bucket for all nodes, or the disk of the only process that serves.
// A start with another location is refused while files are needed in the stored one.

import { randomBase32 } from '../../crypto/random.ts'
import { conflict } from '../../domain/errors.ts'
import { locked, type RowOf, select, statement } from '../statements.ts'
import { all, only, run, type Step, type Steps } from '../steps.ts'
import { bucketFolder, filesDue, pushFiles } from '../tables.ts'

/**
 * A bucket, or a folder on the disk of one node. `mark` is the name of the bucket or the id of that node;
 * `address` names it in messages.
 */
export type FileLocation = { isBucket: boolean; mark: string; address: string }

/** `tag`: the folder of this database in a bucket. It is random, so that no other database uses it. */
type LocationRow = RowOf<typeof bucketFolder>

type FileLocationOptions = {
  steps: Steps
  /** The configured location of this process. */
  location: FileLocation
  /** Resolves to the name of another process that serves the database; null if there is none. */
  findOther(): Promise<string | null>
  /** Whether the bucket holds a file in the folder `tag`. */
  holds(tag: string, id: string): Promise<boolean>
}

const ID = 1
/** Makes a random folder name for a database in a bucket. */
export const newTag = () => randomBase32(26)

/** How many files to look for in a bucket, to see whether it is the right one. */
const LOOKS = 8

const ENTER = statement(
  'INSERT INTO bucket_folder (id, tag, is_used, mark, address) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING',
)
const FIND = locked(select(bucketFolder, `WHERE id = ${ID}`))
const MOVE = statement('UPDATE bucket_folder SET is_used = $1, mark = $2, address = $3')
const OF_PUSHES = select(pushFiles, `ORDER BY push_id DESC, n LIMIT ${LOOKS}`)
const DUE = select(filesDue, `LIMIT ${LOOKS}`)

/**
 * Resolves to the folder of the database in a bucket. Throws `conflict` if the files were elsewhere until now
 * and another node still serves them there, or some are still needed and the new bucket lacks them.
 */
export async function enterFileLocation(options: FileLocationOptions): Promise<string> {
  const { steps, location, findOther, holds } = options
  const stored = await steps.write(() => storeFirst(location))
  const { tag } = stored
  if (isSame(stored, location)) return tag
  const other = await findOther()
  if (other !== null)
    throw conflict(
      `The node ${other} serves this database with its files in ${stored.address}. All nodes of one database keep their files in one bucket: ` +
        'give each of them the same --files-url.',
    )
  const needed = await steps.read(listNeeded)
  const isBucketMoved = stored.isBucket && location.isBucket
  const held = isBucketMoved ? await Promise.all(needed.map((id) => holds(tag, id))) : []
  if (needed.length > 0 && !held.includes(true))
    throw conflict(
      `Live pushes, or downloads after a last view, need their files in ${stored.address}, and ${location.address} lacks them: start ` +
        `${stored.isBucket ? 'with the former --files-url' : 'without --files-url there'} until they have ended, and some minutes longer.`,
    )
  await steps.write(() => run(MOVE, location.isBucket, location.mark, location.address))
  return tag
}

/**
 * Whether two locations are the same. The id or the address may have changed: a machine may get another name,
 * and a data folder another id.
 */
function isSame(one: FileLocation, other: FileLocation): boolean {
  return one.isBucket === other.isBucket && (one.mark === other.mark || one.address === other.address)
}

/** Stores the location at the first start. Returns the stored one. */
function* storeFirst({ isBucket, mark, address }: FileLocation): Step<LocationRow> {
  yield* run(ENTER, ID, newTag(), isBucket, mark, address)
  return yield* only(FIND)
}

/** Lists some files of live pushes, latest first, and some that await removal. */
function* listNeeded(): Step<string[]> {
  const ofPushes = (yield* all(OF_PUSHES)).map(({ fileId }) => fileId)
  const due = (yield* all(DUE)).map(({ id }) => id)
  return [...ofPushes, ...due].slice(0, LOOKS)
}
