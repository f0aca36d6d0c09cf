// Copies what can still be read of a damaged database, around what cannot.

import { Database } from 'bun:sqlite'
import { codeOf } from '../../../domain/system-errors.ts'

/** Rows that are read at once. */
const MAX_ROWS = 512
/** After so many failures the rest of a table is given up. */
const MAX_FAILURES = 20_000
const MAX_TOLD = 5

/** Rows by the numbers that SQLite gives them, both ends included. */
type Range = { first: bigint; last: bigint }

/** Whether SQLite could not read a page or a row. The last two codes come from the disk itself. */
export function isUnreadable(cause: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB|CONSTRAINT|IOERR_READ|IOERR_SHORT_READ)/.test(codeOf(cause))
}

export type Salvage = {
  /** A separate connection: after an error by damage, SQLite refuses all writes in the same transaction. */
  source: Database
  /** A database with the same tables, within a transaction. */
  copy: Database
}

export function openForSalvage(path: string): Database {
  const source = new Database(path, { readonly: true, safeIntegers: true })
  source.run('PRAGMA busy_timeout = 5000')
  return source
}

/** Returns what is lost, in sentences without a full stop. Returns none if the whole table was read. */
export function salvageTable({ source, copy }: Salvage, table: string): string[] {
  const columns = copy.query(`SELECT * FROM main.${table}`).columnNames
  const insert = copy.prepare(
    `INSERT OR IGNORE INTO main.${table} VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const write = (rows: Row[]) => {
    for (const row of rows) insert.run(...row)
  }
  const whole = findRange(source, table)
  if (whole === 'empty') return []
  return whole === null
    ? copyInOrder(source, { table, write })
    : present(table, copyRanges(source, { table, whole, write }))
}

type Row = (string | bigint | Uint8Array | number | boolean | null)[]
type Target = { table: string; write: (rows: Row[]) => void }

/** For tables without row numbers, which are small. Stops at the first unreadable row. */
function copyInOrder(source: Database, { table, write }: Target): string[] {
  try {
    for (const row of source.query<Record<string, Row[number]>, []>(`SELECT * FROM ${table}`).iterate())
      write([Object.values(row)])
    return []
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause
    return [`a part or all of the table ${table} cannot be read`]
  }
}

/** Halves unreadable ranges until only damaged rows are left. Returns those. */
function copyRanges(source: Database, { table, whole, write }: Target & { whole: Range }): Range[] {
  const lost: Range[] = []
  const open: Range[] = [whole]
  let failures = 0
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const rows = failures > MAX_FAILURES ? 'unreadable' : readRange(source, table, range)
    if (rows === 'unreadable') failures += 1
    if (rows === 'unreadable' && (range.first === range.last || failures > MAX_FAILURES)) lost.push(range)
    else if (typeof rows === 'string') open.push(...halve(range))
    else write(rows)
  }
  return lost
}

/** Null for a table without row numbers, or if its first or last row is unreadable. */
function findRange(source: Database, table: string): Range | 'empty' | null {
  const end = (order: string) =>
    source
      .query<{ n: bigint }, []>(`SELECT rowid AS n FROM ${table} NOT INDEXED ORDER BY rowid ${order} LIMIT 1`)
      .get()?.n
  try {
    const [first, last] = [end('ASC'), end('DESC')]
    return first === undefined || last === undefined ? 'empty' : { first, last }
  } catch {
    return null
  }
}

/** Puts the lower half last, which is taken from the stack first. */
function halve({ first, last }: Range): [Range, Range] {
  const middle = (first + last) >> 1n
  return [
    { first: middle + 1n, last },
    { first, last: middle },
  ]
}

function readRange(source: Database, table: string, { first, last }: Range): Row[] | 'unreadable' | 'many' {
  try {
    // An error of the disk ends the transaction.
    if (!source.inTransaction) source.run('BEGIN')
    const rows = source
      .query<unknown, [bigint, bigint]>(
        `SELECT * FROM ${table} NOT INDEXED WHERE rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ${MAX_ROWS + 1}`,
      )
      .values(first, last)
    return rows.length > MAX_ROWS ? 'many' : rows
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause
    return 'unreadable'
  }
}

function present(table: string, lost: readonly Range[]): string[] {
  const joined: Range[] = []
  for (const range of lost) {
    const before = joined.at(-1)
    if (before !== undefined && before.last + 1n === range.first) before.last = range.last
    else joined.push({ ...range })
  }
  if (joined.length === 0) return []
  const told = joined
    .slice(0, MAX_TOLD)
    .map(({ first, last }) => (first === last ? `${first}` : `${first} to ${last}`))
  const more = joined.length > MAX_TOLD ? ` and ${joined.length - MAX_TOLD} more parts` : ''
  return [`rows of the table ${table} cannot be read: ${told.join(', ')}${more}`]
}
