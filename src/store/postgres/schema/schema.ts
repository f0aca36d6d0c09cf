// The tables that only PostgreSQL has, or has in this form, but for those of instance-schema.ts. The SQL files in migrations/
// create them; a test keeps the two equal.

import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { bigint, bytes } from './column-types.ts'

export const spentPoints = pgTable('spent_points', {
  name: text().primaryKey(),
  points: integer().notNull(),
  until: bigint().notNull(),
})

export const usedNonces = pgTable('used_nonces', {
  nonce: text().primaryKey(),
  lapsesAt: bigint('lapses_at').notNull(),
})

export const leases = pgTable('leases', {
  name: text().primaryKey(),
  holder: bytes().notNull(),
  until: bigint().notNull(),
  wanted: boolean().notNull(),
})

export const twoFactorOffers = pgTable('two_factor_offers', {
  sessionId: bigint('session_id').primaryKey(),
  secret: bytes().notNull(),
  until: bigint().notNull(),
})
