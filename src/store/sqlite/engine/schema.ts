// The tables that only SQLite has, or has in this form, as drizzle sees them. The SQL files in migrations/ create them.

import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { bytes } from '../../column-types.ts'
import type { CopyProgress } from '../../copy/state.ts'

export const instance = sqliteTable('instance', {
  id: integer().primaryKey(),
  clockMark: integer('clock_mark').notNull(),
  clockDoubted: integer('clock_doubted'),
  copyState: text('copy_state').$type<CopyProgress>(),
  copyMark: text('copy_mark'),
  copyOther: text('copy_other'),
})

export const instanceKeys = sqliteTable('instance_keys', {
  number: integer().primaryKey(),
  verifier: bytes().notNull(),
})

export const home = sqliteTable('home', {
  id: integer().primaryKey(),
  mark: text().notNull(),
  path: text().notNull(),
})
