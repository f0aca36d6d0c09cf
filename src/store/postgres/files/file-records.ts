// The records of files in PostgreSQL, which all nodes share. Each unfinished upload names the node that it runs on.

import type { Now } from '../../../domain/time.ts'
import { MINUTE } from '../../../domain/time.ts'
import type { FileRecords } from '../../files/file-records.ts'
import type { Session } from '../engine/database.ts'
import { createFileReaders, type FileReadersOptions, forgetDeadReaders } from './file-readers.ts'

/** When a node dies while it removes files, another one removes them after this time. */
const TAKEN_MS = MINUTE

const BEGIN = 'INSERT INTO files_due (id, node) VALUES ($1, $2)'
// Does nothing for a file that a push has taken, also when the node does not know it because an answer was lost.
const GIVE_UP = 'UPDATE files_due SET at = $2::bigint, node = NULL WHERE id = ANY($1::text[])'
const NEXT = 'SELECT at::float8 AS at FROM files_due WHERE at IS NOT NULL ORDER BY at LIMIT 1'
const IS_DUE = 'SELECT 1 FROM files_due WHERE at <= $1::bigint LIMIT 1'

/** No push has this id. It stands for the end of all grants, in the rows of files that are being removed. */
const NO_PUSH = 0

// An array is read once; a subquery might be read again, and so lock more than it should.
const TAKE = `
  UPDATE files_due SET at = $2::bigint, push_id = ${NO_PUSH} WHERE id = ANY(ARRAY(
    SELECT id FROM files_due WHERE at <= $1::bigint ORDER BY at LIMIT $3 FOR UPDATE SKIP LOCKED
  )) RETURNING id`
const FORGET = 'DELETE FROM files_due WHERE id = ANY($1::text[])'
const POSTPONE = `UPDATE files_due SET at = $2::bigint, push_id = ${NO_PUSH} WHERE id = ANY($1::text[])`

const KNOWN = `
  SELECT file_id AS id FROM push_files WHERE file_id = ANY($1::text[])
  UNION ALL SELECT id FROM files_due WHERE id = ANY($1::text[])`
const UNFINISHED = 'SELECT id FROM files_due WHERE id = ANY($1::text[]) AND at IS NULL'

const GIVE_UP_ABANDONED = `
  UPDATE files_due SET at = $1::bigint, node = NULL WHERE id = ANY(ARRAY(
    SELECT id FROM files_due WHERE node IS NOT NULL AND NOT EXISTS (SELECT FROM nodes WHERE nodes.id = files_due.node)
    ORDER BY id FOR UPDATE SKIP LOCKED
  ))`

export type FileRecordsOptions = FileReadersOptions & {
  /** The time by which files are removed. */
  certain: Now
}

export function createFileRecords(options: FileRecordsOptions): FileRecords {
  const { database, node, certain } = options
  const { read, transact } = database
  const run = (text: string, values: readonly unknown[]) =>
    transact(async ({ query }) => void (await query(text, values)))

  /** Could not be given up, because the database did not answer. No other node removes them while this one lives. */
  const abandoned = new Set<string>()

  async function giveUp(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    for (const id of ids) abandoned.add(id)
    await run(GIVE_UP, [ids, certain()])
    for (const id of ids) abandoned.delete(id)
  }

  /** Looks first, because most calls find nothing, and a transaction that changes nothing is written to the disk too. */
  async function takeDue(most: number): Promise<string[]> {
    await giveUp([...abandoned])
    const found = await read(({ query }) => query(IS_DUE, [certain()]))
    if (found.length === 0) return []
    const taken = await transact(({ query }) =>
      query<{ id: string }>(TAKE, [certain(), certain() + TAKEN_MS, most]),
    )
    return taken.map(({ id }) => id)
  }

  async function findIds(text: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set()
    const rows = await read(({ query }) => query<{ id: string }>(text, [ids]))
    return new Set(rows.map(({ id }) => id))
  }

  return {
    begin: (id) => run(BEGIN, [id, node]),
    giveUp: (id) => giveUp([id]),
    takeDue,
    settle: ({ gone, left, at }) =>
      transact(async ({ query }) => {
        if (gone.length > 0) await query(FORGET, [gone])
        if (left.length > 0) await query(POSTPONE, [left, at])
      }),
    findNextDue: async () => {
      const [next] = await read(({ query }) => query<{ at: number }>(NEXT))
      return next?.at ?? null
    },
    findKnown: (ids) => findIds(KNOWN, ids),
    findUnfinished: (ids) => findIds(UNFINISHED, ids),
    ...createFileReaders(options),
  }
}

/** Within a transaction that has removed dead nodes: makes the uploads due that they have not finished. */
export async function giveUpAbandoned(session: Session, now: number): Promise<void> {
  await session.query(GIVE_UP_ABANDONED, [now])
  await forgetDeadReaders(session)
}
