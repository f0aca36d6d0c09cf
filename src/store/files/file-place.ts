// Where the files of a database are: in one bucket for all nodes, or on the disk of the one process that
// serves. A start that would look for them elsewhere is refused.

import { randomBase32 } from '../../crypto/random.ts'
import { conflict } from '../../domain/errors.ts'
import { locked, type RowOf, select, statement } from '../statements.ts'
import { all, only, run, type Step, type Steps } from '../steps.ts'
import { bucketFolder, filesDue, pushFiles } from '../tables.ts'

/** A folder on a disk by what marks it or, if it `isUsed`, the bucket; and what people call it. */
export type FilePlace = { isUsed: boolean; mark: string; address: string }

/** `tag` is the folder of the database in a bucket: random, so that no other database has the same. */
type PlaceRow = RowOf<typeof bucketFolder>

export type FilePlaceOptions = {
  steps: Steps
  place: FilePlace
  /** Another process that serves the database now; null when there is none. */
  findOther(): Promise<string | null>
  /** Whether the bucket holds a file in the folder `tag`. */
  holds(tag: string, id: string): Promise<boolean>
}

const ID = 1
/** A name for the folder of a database in a bucket, which no other database has. */
export const newTag = () => randomBase32(26)

/** How many files are looked for in a bucket that may be the wrong one. */
const LOOKS = 8

const ENTER = statement(
  'INSERT INTO bucket_folder (id, tag, is_used, mark, address) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING',
)
const FIND = locked(select(bucketFolder, `WHERE id = ${ID}`))
const MOVE = statement('UPDATE bucket_folder SET is_used = $1, mark = $2, address = $3')
const OF_PUSHES = select(pushFiles, `ORDER BY push_id DESC, n LIMIT ${LOOKS}`)
const DUE = select(filesDue, `LIMIT ${LOOKS}`)

/**
 * Resolves to the folder in a bucket. Files are not carried over: throws `conflict` unless nothing is left in
 * the place of before, or a new bucket holds it.
 */
export async function settleFilePlace({ steps, place, findOther, holds }: FilePlaceOptions): Promise<string> {
  const { tag, address, ...before } = await steps.write(() => enter(place))
  // A folder keeps its mark when its machine gets another name, and its name when what marks it was removed.
  if (before.isUsed === place.isUsed && (before.mark === place.mark || address === place.address)) return tag
  const other = await findOther()
  if (other !== null)
    throw conflict(
      `The node ${other} serves this database with its files in ${address}. All nodes of one database keep their files in one bucket: ` +
        'give each of them the same --files-url.',
    )
  const needed = await steps.read(listNeeded)
  const held = before.isUsed && place.isUsed ? await Promise.all(needed.map((id) => holds(tag, id))) : []
  if (needed.length > 0 && !held.includes(true))
    throw conflict(
      `Live pushes, or downloads after a last view, need their files in ${address}, and ${place.address} lacks them: start ` +
        `${before.isUsed ? 'with the --files-url of before' : 'without --files-url there'} until they have ended, and some minutes longer.`,
    )
  await steps.write(() => run(MOVE, place.isUsed, place.mark, place.address))
  return tag
}

/** The place of before, which is this one at the first use. */
function* enter({ isUsed, mark, address }: FilePlace): Step<PlaceRow> {
  yield* run(ENTER, ID, newTag(), isUsed, mark, address)
  return yield* only(FIND)
}

/**
 * Some of the files that live pushes have, the latest first, and of those that are to be removed now or
 * later.
 */
function* listNeeded(): Step<string[]> {
  const ofPushes = (yield* all(OF_PUSHES)).map(({ fileId }) => fileId)
  const due = (yield* all(DUE)).map(({ id }) => id)
  return [...ofPushes, ...due].slice(0, LOOKS)
}
