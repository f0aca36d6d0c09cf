// Whole rows in and out of PostgreSQL on hot paths, by drizzle's tables: many rows in one statement.

import { getTableColumns } from 'drizzle-orm'
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core'

export type RowOf<T extends PgTable> = T['$inferSelect']
type NameOf<T extends PgTable> = keyof RowOf<T> & string

/** The columns of a table to select, under their names here. bigint becomes a double, which a number is. */
export function columnsTo<T extends PgTable>(table: T, prefix = ''): string {
  return entriesOf(table)
    .map(([name, column]) => `${prefix}${column.name}${castOf(column)} AS "${name}"`)
    .join(', ')
}

const castOf = (column: PgColumn) => (column.getSQLType() === 'bigint' ? '::float8' : '')

/** `unnest(…) AS given(…)` over one array for each of these columns, from parameter `$first` on. */
export function unnestOf<T extends PgTable>(table: T, names: readonly NameOf<T>[], first: number): string {
  const columns = columnsOf(table)
  const arrays = names.map((name, n) => `$${first + n}::${columns[name]?.getSQLType()}[]`)
  return `unnest(${arrays.join(', ')}) AS given(${names.map((name) => columns[name]?.name).join(', ')})`
}

/** The parameters of `unnestOf`. */
export function arraysOf<Row extends object, Name extends keyof Row>(
  rows: readonly Row[],
  names: readonly Name[],
) {
  return names.map((name) => rows.map((row) => row[name]))
}

/** A statement that inserts whole rows, and its parameters. */
export function insertInto<T extends PgTable>(table: T, rows: readonly RowOf<T>[]) {
  const names = entriesOf(table).map(([name]) => name as NameOf<T>)
  const columns = columnsOf(table)
  const list = names.map((name) => columns[name]?.name).join(', ')
  const text = `INSERT INTO ${nameOf(table)} (${list}) SELECT * FROM ${unnestOf(table, names, 1)}`
  return { text, values: arraysOf(rows, names) }
}

function entriesOf(table: PgTable): [string, PgColumn][] {
  return Object.entries(columnsOf(table))
}

function columnsOf(table: PgTable): Record<string, PgColumn> {
  return getTableColumns(table)
}

export function nameOf(table: PgTable): string {
  return getTableConfig(table).name
}
