// The records of files: which uploads are unfinished, each of which names the process that it runs on, and which files are due.

import { MINUTE, type Now } from '../../domain/time.ts'
import type { FileRecords } from '../files/file-records.ts'
import { all, first, locked, run, type Step, type Steps, select, statement } from '../steps.ts'
import { filesDue } from '../tables.ts'
import { NO_PUSH } from './file-rows.ts'

/** When a node dies while it removes files, another one removes them after this time. */
const TAKEN_MS = MINUTE
const GROWS = { grows: true }

const BEGIN = statement('INSERT INTO files_due (id, node) VALUES ($1, $2)')
// Does nothing for a file that a push has taken, also when the node does not know it because an answer was lost.
const GIVE_UP = statement('UPDATE files_due SET at = $2, node = NULL WHERE id = $1')
const NEXT = select(filesDue, 'WHERE at IS NOT NULL ORDER BY at LIMIT 1')
const DUE = locked(select(filesDue, 'WHERE at <= $1 ORDER BY at LIMIT $2'), 'FOR UPDATE SKIP LOCKED')
const TAKE = statement(`UPDATE files_due SET at = $2, push_id = ${NO_PUSH} WHERE id = $1`)
const FORGET = statement('DELETE FROM files_due WHERE id = $1')

export type FileRecordsOptions = {
  steps: Steps
  /** The id of this process. */
  node: Uint8Array
  now: Now
}

export function createFileRecords({
  steps: { read, write },
  node,
  now,
}: FileRecordsOptions): Omit<FileRecords, 'noteReading' | 'findReadElsewhere'> {
  /** Could not be given up, because the database did not answer. No other node removes them while this one lives. */
  const abandoned = new Set<string>()

  async function giveUp(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    for (const id of ids) abandoned.add(id)
    await write(function* () {
      for (const id of ids) yield* run(GIVE_UP, id, now())
    })
    for (const id of ids) abandoned.delete(id)
  }

  function* take(most: number): Step<string[]> {
    const due = yield* all(DUE, now(), most)
    for (const { id } of due) yield* run(TAKE, id, now() + TAKEN_MS)
    return due.map(({ id }) => id)
  }

  /** Looks first, because most calls find nothing, and a transaction that changes nothing is written to the disk too. */
  async function takeDue(most: number): Promise<string[]> {
    await giveUp([...abandoned])
    const next = await findNextDue()
    return next === null || next > now() ? [] : write(() => take(most))
  }

  async function findNextDue(): Promise<number | null> {
    return (await read(() => first(NEXT)))?.at ?? null
  }

  function* settle({ gone, left, at }: Parameters<FileRecords['settle']>[0]): Step<void> {
    for (const id of gone) yield* run(FORGET, id)
    for (const id of left) yield* run(TAKE, id, at)
  }

  return {
    begin: (id) => write(() => run(BEGIN, id, node), GROWS),
    giveUp: (id) => giveUp([id]),
    takeDue,
    settle: (taken) => write(() => settle(taken)),
    findNextDue,
  }
}
