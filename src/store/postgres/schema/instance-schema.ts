// The tables about the instance itself and its nodes as drizzle sees them; see schema.ts for the others.

import { boolean, customType, integer, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { bigint, bytes } from './column-types.ts'

export const schemaVersions = pgTable('schema_versions', {
  version: integer().primaryKey(),
  compatibleFrom: integer('compatible_from').notNull(),
  at: timestamp({ withTimezone: true }).notNull(),
})

export const instance = pgTable('instance', {
  id: integer().primaryKey(),
  tag: uuid().notNull(),
  clockMark: bigint('clock_mark').notNull(),
  clockDoubted: bigint('clock_doubted'),
  place: text(),
  expiredAllAt: bigint('expired_all_at').notNull(),
  copyState: text('copy_state'),
  copyMark: text('copy_mark'),
  copyOther: text('copy_other'),
})

export const instanceKeys = pgTable('instance_keys', {
  number: integer().primaryKey(),
  verifier: bytes().notNull(),
  isUnused: boolean('is_unused'),
})

const transactionId = customType<{ data: string }>({ dataType: () => 'xid8' })

export const operations = pgTable('operations', {
  id: bytes().primaryKey(),
  isVoid: boolean('is_void').notNull(),
  during: transactionId().notNull(),
})

export const nodes = pgTable('nodes', {
  id: bytes().primaryKey(),
  name: text().notNull(),
  version: text().notNull(),
  startedAt: bigint('started_at').notNull(),
  seenAt: bigint('seen_at').notNull(),
  keys: text().array().notNull(),
  mark: text().notNull(),
})
