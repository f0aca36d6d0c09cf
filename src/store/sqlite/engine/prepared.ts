// Prepared statements for the hot path, built from drizzle's tables. drizzle's own statements convert every value in
// JavaScript, which takes longer than the query itself.

import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { getTableColumns } from 'drizzle-orm'
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'

type RowOf<T extends SQLiteTable> = T['$inferSelect']
type NameOf<T extends SQLiteTable> = keyof RowOf<T> & string
type Value = number | string | boolean | null | Uint8Array<ArrayBuffer>
type Bindings = Record<string, Value>

/** Finds the row with a value in a column whose values are unique. */
export function prepareFind<T extends SQLiteTable, Name extends NameOf<T>>(
  database: Database,
  table: T,
  by: Name,
): (value: RowOf<T>[Name] & SQLQueryBindings) => RowOf<T> | undefined {
  const { found, convert } = prepareSelect(database, table, `${columnsOf(table)[by]?.name} = ?`)
  return (value) => {
    const row = found.get(value) ?? undefined
    return row && convert(row)
  }
}

/** Reads the next rows after an id, in the order of ids, at most `step` of them. */
export function prepareWalk<T extends SQLiteTable & { id: SQLiteColumn }>(
  database: Database,
  table: T,
  step: number,
): (after: number) => RowOf<T>[] {
  const { found, convert } = prepareSelect(database, table, `id > ? ORDER BY id LIMIT ${step}`)
  return (after) => found.all(after).map(convert)
}

function prepareSelect<T extends SQLiteTable>(database: Database, table: T, where: string) {
  const columns = Object.entries(columnsOf(table))
  const list = columns.map(([name, column]) => `${column.name} AS ${name}`)
  const found = database.prepare<Bindings, SQLQueryBindings[]>(
    `SELECT ${list.join(', ')} FROM ${nameOf(table)} WHERE ${where}`,
  )
  const converted = columns.filter(
    ([, column]) => column.dataType === 'custom' && column.getSQLType() === 'integer',
  )
  const convert = (row: Bindings): RowOf<T> => {
    for (const [name, column] of converted)
      if (row[name] !== null) row[name] = column.mapFromDriverValue(row[name]) as Value
    // Named and converted as drizzle's own rows are; the type system cannot follow.
    return row as RowOf<T>
  }
  return { found, convert }
}

/** Inserts a whole row. */
export function prepareInsert<T extends SQLiteTable>(database: Database, table: T): (row: RowOf<T>) => void {
  const columns = Object.entries(columnsOf(table))
  const names = columns.map(([, { name }]) => name)
  const values = columns.map(([name]) => `$${name}`)
  const insert = database.prepare<unknown, [Bindings]>(
    `INSERT INTO ${nameOf(table)} (${names.join(', ')}) VALUES (${values.join(', ')})`,
  )
  return (row) => void insert.run(row as Bindings)
}

/** Updates the named columns of the row with the same id. */
export function prepareUpdate<T extends SQLiteTable>(
  database: Database,
  table: T,
  names: readonly NameOf<T>[],
): (row: RowOf<T>) => void {
  const columns = columnsOf(table)
  const changes = names.map((name) => `${columns[name]?.name} = $${name}`)
  const update = database.prepare<unknown, [Bindings]>(
    `UPDATE ${nameOf(table)} SET ${changes.join(', ')} WHERE id = $id`,
  )
  return (row) => void update.run(row as Bindings)
}

function columnsOf(table: SQLiteTable): Record<string, SQLiteColumn> {
  return getTableColumns(table)
}

function nameOf(table: SQLiteTable): string {
  return getTableConfig(table).name
}
