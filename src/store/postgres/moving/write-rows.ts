// Writes moved rows into a PostgreSQL database that nobody serves, many in one statement.

import { getTableColumns } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { keyOf, pick } from '../../moving/tables.ts'
import type {
  MovedTable,
  MovingBucketFolder,
  MovingFacts,
  MovingKey,
  MovingPush,
  MovingRow,
  MovingWriter,
} from '../../moving-face.ts'
import { columnsTo, insertInto, nameOf, type RowOf } from '../schema/rows.ts'
import * as schema from '../schema/schema.ts'
import type { Query } from './move-row.ts'
import { keyNames, orderOf, TABLES } from './moved-tables.ts'

/** Runs statements in one transaction, which is durable when the promise resolves. */
export type Transact = (work: (query: Query) => Promise<void>) => Promise<void>

/** Entries of audit logs that go into one statement. */
const ENTRIES_AT_ONCE = 5_000

export function createMovingWriter({ query, transact }: { query: Query; transact: Transact }): MovingWriter {
  async function findLast(table: MovedTable | 'pushes'): Promise<MovingKey | null> {
    const [row] = await query<MovingRow>(
      `SELECT ${columnsTo(TABLES[table])} FROM ${nameOf(TABLES[table])}
       ORDER BY ${orderOf(table)
         .map((name) => `${name} DESC`)
         .join(', ')} LIMIT 1`,
    )
    return row === undefined ? null : keyOf(row, keyNames(table))
  }

  const writeRows: MovingWriter['writeRows'] = (table, rows) =>
    transact((within) => insert(within, TABLES[table], rows))

  const writePushes: MovingWriter['writePushes'] = (pushes) =>
    transact(async (within) => {
      const present = <T>(rows: (T | null)[]) => rows.filter((row) => row !== null)
      await insert(within, schema.pushes, pushes.map(presentPush))
      await insert(within, schema.pushSecrets, present(pushes.map(({ secrets }) => secrets)))
      await insert(within, schema.pushLabels, present(pushes.map(({ labels }) => labels)))
      await insert(within, schema.liveShares, present(pushes.map(({ share }) => share)))
      await insert(
        within,
        schema.pushFiles,
        pushes.flatMap(({ files }) => files),
      )
      const entries = pushes.flatMap(numberEntries)
      for (let from = 0; from < entries.length; from += ENTRIES_AT_ONCE)
        await insert(within, schema.auditEntries, entries.slice(from, from + ENTRIES_AT_ONCE))
    })

  async function finish({ clockMark, clockDoubted, lastAccountId }: MovingFacts): Promise<void> {
    await transact(async (within) => {
      await within('UPDATE instance SET clock_mark = $1, clock_doubted = $2', [clockMark, clockDoubted])
      await within('DELETE FROM address_shares')
      await within(`INSERT INTO address_shares (address, pushes, bytes) ${SUMS}`)
      for (const table of WITH_IDS) await keepIds(within, table, table === 'accounts' ? lastAccountId : 0)
    })
    // The planner knows nothing yet of so many new rows.
    await query('ANALYZE')
  }

  return {
    findLast,
    writeRows,
    writePushes,
    finish,
    writeBucketFolder: (folder) => transact((within) => writeBucketFolder(within, folder)),
  }
}

async function insert<T extends PgTable>(query: Query, table: T, rows: readonly MovingRow[]): Promise<void> {
  if (rows.length === 0) return
  const names = Object.keys(getTableColumns(table))
  // Their columns are those of the table, which a test compares; null stands for those that are not moved.
  const whole = rows.map((row) => pick(row, names)) as readonly RowOf<T>[]
  const { text, values } = insertInto(table, whole)
  await query(text, values)
}

/** Within a transaction. */
export async function writeBucketFolder(
  query: Query,
  { tag, session, isUsed }: MovingBucketFolder,
): Promise<void> {
  await query(WRITE_BUCKET_FOLDER, [tag, session, isUsed])
}

const WITH_IDS = ['accounts', 'api_tokens', 'sessions', 'account_links', 'pushes'] as const

/** The next id comes after all that were moved. */
async function keepIds(query: Query, table: (typeof WITH_IDS)[number], least: number): Promise<void> {
  await query(
    `SELECT setval(pg_get_serial_sequence('${table}', 'id'), last, true)
     FROM (SELECT greatest(coalesce(max(id), 0), $1::bigint) AS last FROM ${table}) AS ids WHERE last > 0`,
    [least],
  )
}

function presentPush({ push, entries }: MovingPush): MovingRow {
  return { ...push, version: 0, entries: entries.length }
}

function numberEntries({ entries }: MovingPush): MovingRow[] {
  return entries.map((entry, n) => ({ ...entry, n }))
}

const SUMS = 'SELECT address, count(*), sum(bytes) FROM live_shares GROUP BY address'

const WRITE_BUCKET_FOLDER = `
  INSERT INTO bucket_folder (id, tag, session, is_used) VALUES (1, $1, $2, $3)
  ON CONFLICT (id) DO UPDATE SET tag = $1, session = $2, is_used = $3, mark = NULL, address = NULL`
