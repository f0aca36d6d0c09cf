// Builds the statements of steps, mostly from the tables.

import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { all, blindly, type Effect, first, only, type Statement, type Step, type Value } from './steps.ts'

export type RowOf<T extends SQLiteTable> = T['$inferSelect']

/** The texts of all statements that were made so far. A test checks their query plans. */
export const STATEMENT_TEXTS: string[] = []

/** Makes any statement. Cast the sum of a column to a number, because PostgreSQL returns it as text. */
export function statement<Row = never>(text: string): Statement<Row> {
  STATEMENT_TEXTS.push(text)
  return { text, suffix: '', id: null, effect: null }
}

/** Selects whole rows of a table; `rest` follows FROM. */
export function select<T extends SQLiteTable>(table: T, rest: string): Statement<RowOf<T>> {
  return statement(`SELECT ${namesOf(table)} FROM ${getTableName(table)} ${rest}`)
}

/**
 * Locks the selected rows against any change until the transaction ends. `skipped`: leaves out rows that
 * others have locked.
 */
export function locked<Row>(plain: Statement<Row>, how: Lock = 'FOR NO KEY UPDATE'): Statement<Row> {
  return { ...plain, suffix: how }
}

/** The kinds of row locks. A key share conflicts only with a removal. */
export type Lock =
  | 'FOR NO KEY UPDATE'
  | 'FOR UPDATE'
  | 'FOR SHARE'
  | 'FOR KEY SHARE'
  | 'FOR UPDATE SKIP LOCKED'

export function causing<Row>(effect: Effect, plain: Statement<Row>): Statement<Row> {
  return { ...plain, effect }
}

/** Makes an insert return the id of its row, in the column `id`. */
function returningId<Id extends string>(id: Id, plain: Statement<never>): Statement<Record<Id, number>> {
  return { ...plain, row: undefined as never, suffix: `RETURNING ${id}`, id }
}

/**
 * A row to insert, without its id if the table numbers its rows. Columns that may be null may be left out.
 */
type NewRow<T extends SQLiteTable> = Omit<T['$inferInsert'], 'id'>

/** Inserts rows, and returns each with the id that it got. */
export function insertInto<T extends SQLiteTable>(table: T): (row: NewRow<T>) => Step<RowOf<T>> {
  const { text, values } = inserting(table)
  const insert = statement<RowOf<T>>(`${text} RETURNING ${namesOf(table)}`)
  return (row) => only(insert, ...values(row))
}

/** Inserts a row unless it conflicts; returns null then. */
export function insertUnlessThere<T extends SQLiteTable>(
  table: T,
  computed: Computed = {},
): (row: NewRow<T>) => Step<RowOf<T> | null> {
  const { text, values } = inserting(table, computed)
  const insert = statement<RowOf<T>>(`${text} ON CONFLICT DO NOTHING RETURNING ${namesOf(table)}`)
  return (row) => first(insert, ...values(row))
}

/** Inserts rows, and returns only the ids that they got. */
export function insertForId<T extends SQLiteTable>(table: T) {
  const { text, values } = inserting(table)
  const insert = returningId('id', statement(text))
  return (row: NewRow<T>) => only(insert, ...values(row))
}

/** Columns whose values SQL computes, by name: the expression for each. */
type Computed = Readonly<Record<string, string>>

/** Inserts rows, and returns nothing. */
export function addTo<T extends SQLiteTable>(
  table: T,
  effect: Effect | null = null,
  computed: Computed = {},
): (row: T['$inferInsert']) => Step<void> {
  const { text, values } = inserting(table, computed)
  const insert = { ...statement(text), effect }
  return (row) => blindly(insert, values(row))
}

/** Inserts rows with their ids, for a copy. */
export function addWhole<T extends SQLiteTable>(table: T): (row: RowOf<T>) => Step<void> {
  const { text, values } = insertingColumns(table, columnsOf(table))
  const insert = statement(text)
  return (row) => blindly(insert, values(row))
}

function inserting(table: SQLiteTable, computed: Computed = {}) {
  const isGiven = ([, { name, dataType }]: Column) =>
    !(name in computed) && !(name === 'id' && dataType === 'number')
  return insertingColumns(table, columnsOf(table).filter(isGiven), computed)
}

function insertingColumns(table: SQLiteTable, columns: readonly Column[], computed: Computed = {}) {
  const list = [...columns.map(([, { name }]) => name), ...Object.keys(computed)].join(', ')
  const values = [...columns.map((_, n) => `$${n + 1}`), ...Object.values(computed)].join(', ')
  const names = columns.map(nameOf)
  return {
    text: `INSERT INTO ${getTableName(table)} (${list}) VALUES (${values})`,
    values: (row: object) => valuesOf(row, names),
  }
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
  const update = statement(`UPDATE ${getTableName(table)} SET ${changes} WHERE ${keys[0]?.[1].name} = $1`)
  const all = [...keys, ...columns].map(nameOf)
  return (row) => blindly(update, valuesOf(row, all))
}

function valuesOf(row: object, names: readonly string[]): Value[] {
  // A row of this table; the type system cannot follow.
  const values = row as Record<string, Value>
  return names.map((name) => values[name] ?? null)
}

/**
 * Makes a function that runs a statement for a list of any length. `make` puts the list of parameters into
 * parentheses; `others` is the number of parameters before it.
 */
export function forSome<Row>(make: (list: string) => Statement<Row>, others = 0) {
  const makeFor = (size: number) =>
    make(Array.from({ length: size }, (_, n) => `$${others + n + 1}`).join(', '))
  const known = new Map([[1, makeFor(1)]])
  return function* (list: readonly Value[], ...values: Value[]): Step<Row[]> {
    if (list.length === 0) return []
    // Round the size up and repeat the last value, so that there are few statements to prepare.
    const size = 2 ** Math.ceil(Math.log2(list.length))
    const made = known.get(size) ?? makeFor(size)
    known.set(size, made)
    const padded = Array.from({ length: size }, (_, n) => list[Math.min(n, list.length - 1)] ?? null)
    return yield* all(made, ...values, ...padded)
  }
}

/** Lists the columns of a table for a SELECT, under their names in code. */
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
