// Reads all rows of a table in slices: for a copy, and for the deep check of the doctor.

import { getTableColumns, getTableName } from 'drizzle-orm'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { select } from '../statements.ts'
import { all, type Steps, type Value } from '../steps.ts'

/** Rows in one read; fewer of the table of payloads, which have up to a MiB. */
const [SLICE, PAYLOADS] = [500, 16]

/** Yields the rows of a table in slices, in the order of its primary key. */
export async function* slicesOf<T extends SQLiteTable>(
  table: T,
  read: Steps['read'],
): AsyncGenerator<T['$inferSelect'][]> {
  const keys = keysOf(table)
  const list = keys.map(({ column }) => column).join(', ')
  const most = getTableName(table) === 'push_secrets' ? PAYLOADS : SLICE
  const rest = `ORDER BY ${list} LIMIT ${most}`
  const start = select(table, rest)
  const after = select(table, `WHERE (${list}) > (${keys.map((_, n) => `$${n + 1}`).join(', ')}) ${rest}`)
  for (let rows = await read(() => all(start)); rows.length > 0; ) {
    yield rows
    const last: Record<string, Value> = rows.at(-1) ?? {}
    const values = keys.map(({ name }) => last[name] ?? null)
    rows = rows.length < most ? [] : await read(() => all(after, ...values))
  }
}

/** The columns of its primary key. */
function keysOf(table: SQLiteTable): { name: string; column: string }[] {
  const composite = getTableConfig(table).primaryKeys[0]?.columns.map(({ name }) => name)
  return Object.entries(getTableColumns(table))
    .filter(([, column]) => composite?.includes(column.name) ?? column.primary)
    .map(([name, column]) => ({ name, column: column.name }))
}
