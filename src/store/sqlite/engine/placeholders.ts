// Placeholders for prepared statements, named as the properties of a table.

import { getTableColumns, type Placeholder, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'

/** A placeholder for each column. */
export function placeholdersOf<T extends SQLiteTable>(
  table: T,
): Record<keyof T['$inferInsert'], Placeholder> {
  const names = Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)])
  // Built from the table's own columns; the type system cannot follow.
  return Object.fromEntries(names) as Record<keyof T['$inferInsert'], Placeholder>
}

/** A placeholder for `set`, whose type does not accept a bare one. */
export function given(name: string) {
  return sql`${sql.placeholder(name)}`
}
