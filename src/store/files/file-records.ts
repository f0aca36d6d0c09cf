// What the database knows of files: which uploads are unfinished and on which node, which files are due, and which are being read.

import { randomKey } from '../../crypto/random.ts'
import { MINUTE, type Now } from '../../domain/time.ts'
import { locked, select, statement } from '../statements.ts'
import { all, first, has, run, type Step, type Steps } from '../steps.ts'
import { filesDue, filesRead } from '../tables.ts'

/** A file that is due is given to nobody else for so long, and is tried again then unless it is gone. */
export const TAKEN_MS = MINUTE
/** How long a download waits for the database to note its reader. */
const NOTE_MS = 2_000
const READER_BYTES = 16
const GROWS = { grows: true }

const BEGIN = statement('INSERT INTO files_due (id, node) VALUES ($1, $2)')
// Does nothing for a file that a push has taken, also when the node does not know it because an answer was lost.
const GIVE_UP = statement('UPDATE files_due SET at = $2, node = NULL WHERE id = $1')
const NEXT = select(filesDue, 'WHERE at IS NOT NULL ORDER BY at LIMIT 1')
const DUE = locked(select(filesDue, 'WHERE at <= $1 ORDER BY at LIMIT $2'), 'FOR UPDATE SKIP LOCKED')
const TAKE = statement('UPDATE files_due SET at = $2, push_id = NULL WHERE id = $1')
const FORGET = statement('DELETE FROM files_due WHERE id = $1')

const BEGIN_READING = statement('INSERT INTO files_read (reader, id, node) VALUES ($1, $2, $3)')
const END_READING = statement('DELETE FROM files_read WHERE reader = $1')
const READ = select(filesRead, 'WHERE id = $1 LIMIT 1')

const AT_WORK = statement<{ node: Uint8Array }>(
  'SELECT node FROM files_due WHERE node IS NOT NULL UNION SELECT node FROM files_read',
)
const GIVE_UP_OF_NODE = statement('UPDATE files_due SET at = $2, node = NULL WHERE node = $1')
const END_READING_OF_NODE = statement('DELETE FROM files_read WHERE node = $1')

/** `isRead`: a download reads it. */
export type DueFile = { id: string; isRead: boolean }

export type FileRecordsOptions = {
  steps: Steps
  /** The id of this process. */
  node: Uint8Array
  now: Now
}

export function createFileRecords({ steps: { read, write }, node, now }: FileRecordsOptions) {
  /** Not written yet, perhaps because the database did not answer. No other node does it while this one lives. */
  const unwritten = new Set<() => Step<void>>()

  async function surely(step: () => Step<void>): Promise<void> {
    unwritten.add(step)
    await write(step)
    unwritten.delete(step)
  }

  function* take(most: number): Step<DueFile[]> {
    const taken: DueFile[] = []
    for (const { id } of yield* all(DUE, now(), most)) {
      yield* run(TAKE, id, now() + TAKEN_MS)
      taken.push({ id, isRead: yield* has(READ, id) })
    }
    return taken
  }

  /** Looks first, because most calls find nothing, and a transaction that changes nothing is written to the disk too. */
  async function takeDue(most: number): Promise<DueFile[]> {
    for (const step of unwritten) await surely(step)
    const next = await findNextDue()
    return next === null || next > now() ? [] : write(() => take(most))
  }

  async function findNextDue(): Promise<number | null> {
    return (await read(() => first(NEXT)))?.at ?? null
  }

  async function forget(ids: readonly string[]): Promise<void> {
    await write(function* () {
      for (const id of ids) yield* run(FORGET, id)
    })
  }

  /** A download goes on without its row when the database does not answer: then no node can remove anything either. */
  async function noteReading(id: string): Promise<() => void> {
    const reader = randomKey(READER_BYTES)
    await write(() => run(BEGIN_READING, reader, id, node), { within: NOTE_MS }).catch(() => undefined)
    return () => void surely(() => run(END_READING, reader)).catch(() => undefined)
  }

  return {
    /** Enters an upload, before its first byte is written. Throws `disk_full`. */
    begin: (id: string): Promise<void> => write(() => run(BEGIN, id, node), GROWS),
    /** Makes the file of an upload that no push took due for removal. */
    giveUp: (id: string): Promise<void> => surely(() => run(GIVE_UP, id, now())),
    /** Some files that are due, which nobody else is given for a while. */
    takeDue,
    /** When the next file is due, which may be in the past; null when none is. */
    findNextDue,
    /** For files that are gone. */
    forget,
    /** Keeps the file from being removed by any node until the returned function is called. */
    noteReading,
  }
}

/** Makes the unfinished uploads of nodes due that are not alive, and forgets what they read. */
export function* giveUpAbandoned(isAlive: (node: Uint8Array) => boolean, now: number): Step<void> {
  for (const { node } of yield* all(AT_WORK)) {
    if (isAlive(node)) continue
    yield* run(GIVE_UP_OF_NODE, node, now)
    yield* run(END_READING_OF_NODE, node)
  }
}
