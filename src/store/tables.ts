// The tables, declared once for every engine. The order is that in which transactions lock their rows.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AccountLinkPurpose } from '../domain/account.ts'
import { bytes, flag } from './column-types.ts'

export const accounts = sqliteTable('accounts', {
  id: integer().primaryKey(),
  email: text().notNull(),
  passwordHash: text('password_hash').notNull(),
  isAdmin: flag('is_admin').notNull(),
  disabledAt: integer('disabled_at'),
  createdAt: integer('created_at').notNull(),
  totpSecret: bytes('totp_secret'),
  totpStep: integer('totp_step'),
  lastSignInAt: integer('last_sign_in_at').notNull(),
  resets: integer().notNull().default(0),
})

export const sessions = sqliteTable('sessions', {
  id: integer().primaryKey(),
  accountId: integer('account_id').notNull(),
  hash: bytes().notNull(),
  createdAt: integer('created_at').notNull(),
  lastSeenAt: integer('last_seen_at').notNull(),
  ip: text().notNull(),
  userAgent: text('user_agent').notNull(),
  confirmedAt: integer('confirmed_at').notNull(),
})

export const accountLinks = sqliteTable('account_links', {
  id: integer().primaryKey(),
  hash: bytes().notNull(),
  purpose: text().$type<AccountLinkPurpose>().notNull(),
  accountId: integer('account_id'),
  email: text(),
  isAdmin: flag('is_admin').notNull(),
  endsTwoFactor: flag('ends_two_factor').notNull(),
  createdBy: integer('created_by'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
})

export const apiTokens = sqliteTable('api_tokens', {
  id: integer().primaryKey(),
  accountId: integer('account_id').notNull(),
  name: text().notNull(),
  prefix: text().notNull(),
  hash: bytes().notNull(),
  createdAt: integer('created_at').notNull(),
  lastUsedAt: integer('last_used_at'),
})

export const recoveryCodes = sqliteTable(
  'recovery_codes',
  { accountId: integer('account_id').notNull(), hash: bytes().notNull() },
  (table) => [primaryKey({ columns: [table.accountId, table.hash] })],
)

export const messageTemplates = sqliteTable('message_templates', {
  accountId: integer('account_id').primaryKey(),
  template: text().notNull(),
})

export const pushChoices = sqliteTable('push_choices', {
  accountId: integer('account_id').primaryKey(),
  lifetime: integer(),
  views: integer(),
  retrievalStep: flag('retrieval_step'),
  deletableByViewer: flag('deletable_by_viewer'),
})
