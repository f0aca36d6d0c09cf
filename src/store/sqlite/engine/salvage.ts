// Copies what can still be read of a damaged table, around what cannot.

import type { Database } from 'bun:sqlite'

/** Beyond, the table is damaged in so many places that the rest is given up. */
const MAX_FAILURES = 20_000
const MAX_TOLD = 5

/** Rows by the numbers that SQLite gives them, both ends included. */
type Range = { first: number; last: number }

/**
 * From the attached database `source` to `main`, within a transaction. Returns what is lost, in sentences without a full
 * stop. Halves what cannot be read until the damaged rows alone are left.
 */
export function salvageTable(copy: Database, table: string): string[] {
  const whole = findRange(copy, table)
  if (whole === null) return [`nothing of the table ${table} can be read`]
  const lost: Range[] = []
  const open: Range[] = [whole]
  let failures = 0
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    if (failures > MAX_FAILURES) lost.push(range)
    else if (!copyRange(copy, table, range)) {
      failures += 1
      if (range.first === range.last) lost.push(range)
      else open.push(...halve(range))
    }
  }
  return present(table, lost)
}

/** Null for a table without such numbers, or without a readable beginning or end. */
function findRange(copy: Database, table: string): Range | null {
  try {
    const end = (order: string) =>
      copy
        .query<{ n: number }, []>(
          `SELECT rowid AS n FROM source.${table} NOT INDEXED ORDER BY rowid ${order} LIMIT 1`,
        )
        .get()?.n
    const [first, last] = [end('ASC'), end('DESC')]
    return first === undefined || last === undefined ? null : { first, last }
  } catch {
    return null
  }
}

/** The lower half on top, so that ranges are done in their order. */
function halve({ first, last }: Range): [Range, Range] {
  const middle = Math.floor((first + last) / 2)
  return [
    { first: middle + 1, last },
    { first, last: middle },
  ]
}

/** All rows of the range or none; false when one of them cannot be read. */
function copyRange(copy: Database, table: string, { first, last }: Range): boolean {
  copy.run('SAVEPOINT part')
  try {
    copy.run(
      `INSERT OR IGNORE INTO main.${table} SELECT * FROM source.${table} NOT INDEXED WHERE rowid BETWEEN ? AND ?`,
      [first, last],
    )
    return true
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause
    copy.run('ROLLBACK TO part')
    return false
  } finally {
    if (copy.inTransaction) copy.run('RELEASE part')
  }
}

function isUnreadable(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && /^SQLITE_(CORRUPT|CONSTRAINT)/.test(String(cause.code))
}

function present(table: string, lost: readonly Range[]): string[] {
  const joined: Range[] = []
  for (const range of lost) {
    const before = joined.at(-1)
    if (before !== undefined && before.last + 1 === range.first) before.last = range.last
    else joined.push({ ...range })
  }
  const told = joined
    .slice(0, MAX_TOLD)
    .map(({ first, last }) => (first === last ? `${first}` : `${first} to ${last}`))
  const more = joined.length > MAX_TOLD ? ` and ${joined.length - MAX_TOLD} more parts` : ''
  return joined.length === 0
    ? [`an index of the table ${table} could not be read; all its rows could`]
    : [`rows of the table ${table} cannot be read: ${told.join(', ')}${more}`]
}
