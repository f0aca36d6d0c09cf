// Builds the statements of steps, mostly from the tables.

import { getTableColumns } from 'drizzle-orm'
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { all, blindly, type Effect, first, type Statement, type Step, type Value } from './steps.ts'

export type RowOf<T extends SQLiteTable> = T['$inferSelect']

/** Any statement. The sum of a column has to be cast to a number: PostgreSQL returns it as a text. */
export function statement<Row = never>(text: string, _of?: object): Statement<Row> {
  return { text, suffix: '', id: null, effect: null }
}

/** Whole rows of a table; `rest` is what follows FROM. */
export function select<T extends SQLiteTable>(table: T, rest: string): Statement<RowOf<T>> {
  return statement(`SELECT ${namesOf(table)} FROM ${tableName(table)} ${rest}`)
}

/** Locks the rows until the end of the transaction, against every change of them; `skipped`: leaves out what others hold. */
export function locked<Row>(plain: Statement<Row>, how: Lock = 'FOR NO KEY UPDATE'): Statement<Row> {
  return { ...plain, suffix: how }
}

/** A key share waits for an account that is removed, and for nothing else. */
export type Lock =
  | 'FOR NO KEY UPDATE'
  | 'FOR UPDATE'
  | 'FOR SHARE'
  | 'FOR KEY SHARE'
  | 'FOR UPDATE SKIP LOCKED'

export function causing<Row>(effect: Effect, plain: Statement<Row>): Statement<Row> {
  return { ...plain, effect }
}

/** `names` are those of the values, in the order of the statement. */
export type Insert<Row> = { statement: Statement<Row>; names: readonly string[] }

/** Inserts a row, and returns it with the id that it got, if it has one. `rest` follows the values, such as ON CONFLICT. */
export function insertInto<T extends SQLiteTable>(
  table: T,
  rest = '',
): Insert<RowOf<T>> & { given?: Omit<RowOf<T>, 'id'> } {
  const columns = columnsOf(table).filter(([name]) => name !== 'id')
  const text = `${insertText(table, columns)} ${rest} RETURNING ${namesOf(table)}`
  return { statement: statement(text), names: columns.map(nameOf) }
}

/** Inserts a row, and returns only the id that it got. */
export function insertForId<T extends SQLiteTable & { id: SQLiteColumn }>(
  table: T,
): Insert<{ id: number }> & { given?: Omit<RowOf<T>, 'id'> } {
  const columns = columnsOf(table).filter(([name]) => name !== 'id')
  return { statement: returningId('id', statement(insertText(table, columns))), names: columns.map(nameOf) }
}

/** Makes the insert of one row return the id that the row got, in the column `id`. */
export function returningId<Id extends string>(
  id: Id,
  plain: Statement<never>,
): Statement<Record<Id, number>> {
  return { ...plain, row: undefined as never, suffix: `RETURNING ${id}`, id }
}

/** Columns whose values SQL computes: name in the database → expression. */
type Computed = Readonly<Record<string, string>>

function insertText(table: SQLiteTable, columns: readonly Column[], computed: Computed = {}): string {
  const list = [...columns.map(([, { name }]) => name), ...Object.keys(computed)].join(', ')
  const values = [...columns.map((_, n) => `$${n + 1}`), ...Object.values(computed)].join(', ')
  return `INSERT INTO ${tableName(table)} (${list}) VALUES (${values})`
}

/** The inserted row; null when a conflict kept it out. */
export function insert<Row, Given extends object>(
  { statement, names }: Insert<Row> & { given?: Given },
  row: Given,
): Step<Row | null> {
  return first(statement, ...valuesOf(row, names))
}

/** Inserts rows, and returns nothing. A column that may be null may be left out. */
export function addTo<T extends SQLiteTable>(
  table: T,
  effect: Effect | null = null,
  computed: Computed = {},
): (row: T['$inferInsert']) => Step<void> {
  const columns = columnsOf(table).filter(([, { name }]) => !(name in computed))
  const insert = { ...statement(insertText(table, columns, computed)), effect }
  const names = columns.map(nameOf)
  return (row) => blindly(insert, valuesOf(row, names))
}

/** Writes these columns of the row that has the same id. */
export function updateOf<T extends SQLiteTable & { id: SQLiteColumn }, Name extends keyof RowOf<T> & string>(
  table: T,
  names: readonly Name[],
  computed: Computed = {},
): (row: Pick<RowOf<T>, Name> & { id: number }) => Step<void> {
  const columns = columnsOf(table).filter(([name]) => names.some((one) => one === name))
  const keys = columnsOf(table).filter(([name]) => name === 'id')
  const values = columns.map(([, { name }], n) => `${name} = $${n + 2}`)
  const changes = [...values, ...Object.entries(computed).map(([name, sql]) => `${name} = ${sql}`)].join(', ')
  const update = statement(`UPDATE ${tableName(table)} SET ${changes} WHERE ${keys[0]?.[1].name} = $1`)
  const all = [...keys, ...columns].map(nameOf)
  return (row) => blindly(update, valuesOf(row, all))
}

function valuesOf(row: object, names: readonly string[]): Value[] {
  // A row of this table; the type system cannot follow.
  const values = row as Record<string, Value>
  return names.map((name) => values[name] ?? null)
}

/** Statements with a list of values, which `make` puts into a pair of brackets; other values come before it, `others` of them. */
export function forSome<Row>(make: (list: string) => Statement<Row>, others = 0) {
  const known = new Map<number, Statement<Row>>()
  return function* (list: readonly Value[], ...values: Value[]): Step<Row[]> {
    if (list.length === 0) return []
    // Repeats the last value, so that there are few statements to prepare.
    const size = 2 ** Math.ceil(Math.log2(list.length))
    const made =
      known.get(size) ?? make(Array.from({ length: size }, (_, n) => `$${others + n + 1}`).join(', '))
    known.set(size, made)
    const padded = Array.from({ length: size }, (_, n) => list[Math.min(n, list.length - 1)] ?? null)
    return yield* all(made, ...values, ...padded)
  }
}

/** The columns of a table to select, under their names here. */
export function namesOf(table: SQLiteTable, prefix = ''): string {
  return columnsOf(table)
    .map(([name, column]) => `${prefix}${column.name} AS "${name}"`)
    .join(', ')
}

type Column = [name: string, column: SQLiteColumn]

const nameOf = ([name]: Column) => name

function columnsOf(table: SQLiteTable): Column[] {
  return Object.entries(getTableColumns(table))
}

export function tableName(table: SQLiteTable): string {
  return getTableConfig(table).name
}
