// Everything that a move reads of a PostgreSQL database, within one snapshot.

import { keyOf, MOVED_TABLES, pick, STEP } from '../../moving/tables.ts'
import type {
  Batch,
  MovedTable,
  MovingCounts,
  MovingFacts,
  MovingFile,
  MovingKey,
  MovingReader,
  MovingRow,
} from '../../moving-face.ts'
import { columnsTo, nameOf } from '../schema/rows.ts'
import type { Query } from './move-row.ts'
import { orderOf, TABLES } from './moved-tables.ts'
import { createPushReader } from './read-pushes.ts'

type Found = Record<string, unknown>

export function createMovingReader(query: Query): MovingReader {
  async function readRows(table: MovedTable, after: MovingKey | null): Promise<Batch<MovingRow>> {
    const { columns, key } = MOVED_TABLES[table]
    const order = orderOf(table).join(', ')
    const given = key.map((_, n) => `$${n + 1}`).join(', ')
    const where = after === null ? '' : `WHERE (${order}) > (${given})`
    const rows = await query<Found>(
      `SELECT ${columnsTo(TABLES[table])} FROM ${nameOf(TABLES[table])} ${where} ORDER BY ${order} LIMIT ${STEP}`,
      after ?? [],
    )
    const items = rows.map((row) => pick(present(table, row), columns))
    const last = items.at(-1)
    return { items, damaged: [], next: last === undefined || rows.length < STEP ? null : keyOf(last, key) }
  }

  async function readFiles(after: MovingKey | null): Promise<Batch<MovingFile>> {
    const rows = await query<MovingFile & { n: number }>(FILES, after ?? [0, -1])
    const last = rows.at(-1)
    const items = rows.map(({ id, pushId, size }) => ({ id, pushId, size }))
    return {
      items,
      damaged: [],
      next: last === undefined || rows.length < STEP ? null : [last.pushId, last.n],
    }
  }

  async function readFacts(): Promise<MovingFacts> {
    const [row] = await query<MovingFacts>(FACTS)
    return row ?? { clockMark: 0, clockDoubted: null, lastAccountId: 0 }
  }

  return {
    readFacts,
    readRows,
    readPushes: createPushReader(query),
    readFiles,
    readBucketFolder: async () =>
      (await query<{ tag: string; session: string; isUsed: boolean }>(BUCKET_FOLDER))[0] ?? null,
    count: async () => (await query<MovingCounts>(COUNTS))[0] ?? NOTHING,
  }
}

/** As the other engine has it: an answer goes with its push, and an upload that never ended is due. */
function present(table: MovedTable, row: Found): Found {
  if (table === 'filesDue') return { ...row, at: row.at ?? 0 }
  if (table === 'idempotencyKeys' && row.answer === null) return { ...row, pushId: null }
  return row
}

const NOTHING: MovingCounts = { accounts: 0, pushes: 0, live: 0, entries: 0, files: 0, bytes: 0, largest: 0 }

const FILES = `
  SELECT file_id AS id, push_id::float8 AS "pushId", size::float8 AS size, n FROM push_files
  WHERE (push_id, n) > ($1, $2) ORDER BY push_id, n LIMIT ${STEP}`

const FACTS = `
  SELECT clock_mark::float8 AS "clockMark", clock_doubted::float8 AS "clockDoubted",
    greatest(coalesce(pg_sequence_last_value(pg_get_serial_sequence('accounts', 'id')::regclass), 0),
      (SELECT coalesce(max(id), 0) FROM accounts))::float8 AS "lastAccountId"
  FROM instance`

const BUCKET_FOLDER = 'SELECT tag, session, is_used AS "isUsed" FROM bucket_folder'

const COUNTS = `
  SELECT (SELECT count(*) FROM accounts)::float8 AS accounts,
    (SELECT count(*) FROM pushes)::float8 AS pushes,
    (SELECT count(*) FROM pushes WHERE expired_on IS NULL)::float8 AS live,
    (SELECT count(*) FROM audit_entries)::float8 AS entries,
    (SELECT count(*) FROM push_files)::float8 AS files,
    (SELECT coalesce(sum(size), 0) FROM push_files)::float8 AS bytes,
    (SELECT coalesce(max(size), 0) FROM push_files)::float8 AS largest`
