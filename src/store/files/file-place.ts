// Where the files of a database are: in one bucket for all nodes, or on the disk of the one process that serves. A start that would
// look for them elsewhere is refused.

import { randomBase32 } from '../../crypto/random.ts'
import { DomainError } from '../../domain/errors.ts'
import { locked, type RowOf, select, statement } from '../statements.ts'
import { all, run, type Step, type Steps } from '../steps.ts'
import { bucketFolder, filesDue, pushFiles } from '../tables.ts'

/** A folder on a disk by what marks it or, if it `isUsed`, the bucket; and what people call it. */
export type FilePlace = { isUsed: boolean; mark: string; address: string }

/** `tag` is the folder of the database in a bucket: random, so that no other database has the same. */
type PlaceRow = RowOf<typeof bucketFolder>

export type FilePlaceOptions = {
  steps: Steps
  place: FilePlace
  now: number
  /** Another process that serves the database now; null when there is none. */
  findOther(): Promise<string | null>
  /** Whether the bucket holds a file in the folder `tag`. */
  holds(tag: string, id: string): Promise<boolean>
  /** Removes a file from the disk. */
  removeFromDisk(id: string): Promise<unknown>
  onWarning: (warning: string) => void
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
const GRANTED = select(filesDue, `WHERE at > $1 AND push_id IS NOT NULL LIMIT ${LOOKS}`)
const ALL_DUE = select(filesDue, '')
const FORGET_DUE = statement('DELETE FROM files_due')

/** Resolves to the folder in a bucket. Throws `conflict` when the files are elsewhere, and needed there. */
export async function settleFilePlace(options: FilePlaceOptions): Promise<string> {
  const { steps, place } = options
  const before = await steps.write(() => enter(place))
  if (!isSame(before, place)) await changePlace(before, options)
  return before.tag
}

/** The place of before, which is this one at the first use. */
function* enter({ isUsed, mark, address }: FilePlace): Step<PlaceRow> {
  yield* run(ENTER, ID, newTag(), isUsed, mark, address)
  const [row] = yield* all(FIND)
  if (row === undefined) throw new Error('no place of files was entered')
  return row
}

/** A folder keeps its mark when its machine gets another name, and its name when what marks it was removed. */
function isSame(before: PlaceRow, { isUsed, mark, address }: FilePlace): boolean {
  return before.isUsed === isUsed && (before.mark === mark || before.address === address)
}

/** Files are not carried over: a place is left only when nothing is needed there, or a new bucket holds what is. */
async function changePlace(before: PlaceRow, options: FilePlaceOptions): Promise<void> {
  const { steps, place, now, findOther } = options
  const other = await findOther()
  if (other !== null)
    throw new DomainError(
      'conflict',
      `The node ${other} serves this database with its files in ${before.address}. All nodes of one database keep their files in ` +
        'one bucket: give each of them the same --files-url.',
    )
  const { needed, due } = await steps.read(() => listHeld(now))
  if (needed.length > 0) await requireHeld(needed, before, options)
  else await leave(due, before, options)
  await steps.write(function* () {
    if (needed.length === 0) yield* run(FORGET_DUE)
    yield* run(MOVE, place.isUsed, place.mark, place.address)
  })
}

/** Some of the files that live pushes have, the latest first, or that can be downloaded after a last view; and those that are due. */
function* listHeld(now: number): Step<{ needed: string[]; due: string[] }> {
  const ofPushes = (yield* all(OF_PUSHES)).map(({ fileId }) => fileId)
  const granted = (yield* all(GRANTED, now)).map(({ id }) => id)
  const due = yield* all(ALL_DUE)
  return { needed: [...ofPushes, ...granted].slice(0, LOOKS), due: due.map(({ id }) => id) }
}

async function requireHeld(
  needed: readonly string[],
  { isUsed, address, tag }: PlaceRow,
  { place, holds }: FilePlaceOptions,
): Promise<void> {
  const start = isUsed ? 'start with the --files-url of before' : 'start without --files-url there'
  if (!isUsed || !place.isUsed)
    throw new DomainError(
      'conflict',
      `Live pushes, or downloads after a last view, need their files in ${address}: ${start} until they have ended.`,
    )
  for (const id of needed) if (await holds(tag, id)) return
  throw new DomainError(
    'conflict',
    `The files are not where --files-url leads: ${place.address} lacks the files that the database names, which were in ` +
      `${address}. Copy them, or ${start}. Files of pushes that have expired are not needed any more, some minutes later.`,
  )
}

async function leave(due: readonly string[], { isUsed, address, tag }: PlaceRow, options: FilePlaceOptions) {
  if (!isUsed) for (const id of due) await options.removeFromDisk(id)
  else if (due.length > 0)
    options.onWarning(
      `${due.length} objects that belong to no push may remain in ${address}, under ${tag}/: remove them there.`,
    )
}
