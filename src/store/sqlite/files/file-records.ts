// The records of files in SQLite, for the one process that serves them.

import type { Now } from '../../../domain/time.ts'
import type { FileRecords } from '../../files/file-records.ts'
import type { Transact } from '../engine/group-commit.ts'
import type { FileRows } from './file-rows.ts'

const GROWS = { grows: true }
const NOTHING_TO_TELL = async () => undefined
const NOBODY: ReadonlySet<string> = new Set()

export type FileRecordsOptions = {
  rows: FileRows
  transact: Transact
  /** The time by which files are removed. */
  certain: Now
}

export function createFileRecords({ rows, transact, certain }: FileRecordsOptions): FileRecords {
  return {
    begin: (id) => transact(() => rows.begin(id), GROWS),
    giveUp: (id) => transact(() => rows.giveUp({ id, now: certain() })),
    takeDue: async (most) => rows.listDue(certain()).slice(0, most),
    settle: ({ gone, left, at }) =>
      transact(() => {
        for (const id of gone) rows.forget(id)
        for (const id of left) rows.postpone({ id, at })
      }),
    findNextDue: async () => rows.findNextDue(),
    findKnown: async (ids) => rows.findKnown(ids),
    findUnfinished: async (ids) => rows.findUnfinished(ids),
    noteReading: async () => NOTHING_TO_TELL,
    findReadElsewhere: async () => NOBODY,
  }
}
