// Brings a database to this version's schema, by `PRAGMA user_version`; all pending steps in one transaction.

import type { Database } from 'bun:sqlite'
import { getTableConfig } from 'drizzle-orm/sqlite-core'
import { DomainError } from '../../../domain/errors.ts'
import * as tables from '../../tables.ts'
import initial from './migrations/0001-initial.sql' with { type: 'text' }
import keySlots from './migrations/0002-key-slots.sql' with { type: 'text' }
import signingIn from './migrations/0003-signing-in.sql' with { type: 'text' }
import rowChecksums from './migrations/0004-row-checksums.sql' with { type: 'text' }
import accountIds from './migrations/0005-account-ids.sql' with { type: 'text' }
import grantedFiles from './migrations/0006-granted-files.sql' with { type: 'text' }
import idempotencyKeys from './migrations/0007-idempotency-keys.sql' with { type: 'text' }
import passphraseBudget from './migrations/0008-passphrase-budget.sql' with { type: 'text' }
import sessionConfirmations from './migrations/0009-session-confirmations.sql' with { type: 'text' }
import addressShares from './migrations/0010-address-shares.sql' with { type: 'text' }
import auditBounds from './migrations/0011-audit-bounds.sql' with { type: 'text' }
import pushChoices from './migrations/0012-push-choices.sql' with { type: 'text' }
import looksAndViews from './migrations/0013-looks-and-views.sql' with { type: 'text' }
import lastSignIn from './migrations/0014-last-sign-in.sql' with { type: 'text' }
import messageTemplates from './migrations/0015-message-templates.sql' with { type: 'text' }
import clockDoubt from './migrations/0016-clock-doubt.sql' with { type: 'text' }
import imported from './migrations/0017-imported.sql' with { type: 'text' }
import lostPushes from './migrations/0018-lost-pushes.sql' with { type: 'text' }
import home from './migrations/0019-home.sql' with { type: 'text' }
import bucketFolder from './migrations/0020-bucket-folder.sql' with { type: 'text' }
import accountResets from './migrations/0021-account-resets.sql' with { type: 'text' }
import visitBounds from './migrations/0022-visit-bounds.sql' with { type: 'text' }
import accountRows from './migrations/0023-account-rows.sql' with { type: 'text' }
import * as schema from './schema.ts'

export const MIGRATIONS: readonly string[] = [
  initial,
  keySlots,
  signingIn,
  rowChecksums,
  accountIds,
  grantedFiles,
  idempotencyKeys,
  passphraseBudget,
  sessionConfirmations,
  addressShares,
  auditBounds,
  pushChoices,
  looksAndViews,
  lastSignIn,
  messageTemplates,
  clockDoubt,
  imported,
  lostPushes,
  home,
  bucketFolder,
  accountResets,
  visitBounds,
  accountRows,
]

export function schemaVersion(database: Database): number {
  const row = database.query<{ user_version: number }, []>('PRAGMA user_version').get()
  return row?.user_version ?? 0
}

/** Runs what is pending and checks the result; a failure leaves the database as it was. Refuses a newer one. */
export function migrate(database: Database, migrations: readonly string[] = MIGRATIONS): void {
  refuseNewer(database, migrations)
  if (schemaVersion(database) === migrations.length) return
  // Dropping a table that others refer to would delete their rows. Does nothing within a transaction.
  database.run('PRAGMA foreign_keys = OFF')
  try {
    database.transaction(() => runPending(database, migrations)).immediate()
  } finally {
    database.run('PRAGMA foreign_keys = ON')
  }
}

/** Within a transaction. */
function runPending(database: Database, migrations: readonly string[]): void {
  for (const migration of migrations.slice(schemaVersion(database))) database.run(migration)
  const violations = database.query('PRAGMA foreign_key_check').all()
  if (violations.length > 0) throw new Error(`the migration would break ${violations.length} references`)
  database.run(`PRAGMA user_version = ${migrations.length}`)
}

/** For commands beside the server, which never migrate: throws unless the schema is exactly this version's. */
export function requireCurrentSchema(database: Database): void {
  refuseNewer(database, MIGRATIONS)
  if (schemaVersion(database) < MIGRATIONS.length) {
    const message = `${database.filename} was written by an older Oncebox. Start "oncebox serve" once to bring it up to date.`
    throw new DomainError('conflict', message)
  }
  requireOwnTables(database)
}

/** Throws when tables or columns do not have the names of the schema. SQLite itself does not check them. */
export function requireOwnTables(database: Database): void {
  const columns = database.prepare<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
  for (const table of Object.values({ ...schema, ...tables }).map(getTableConfig)) {
    const found = columns.all(table.name).map(({ name }) => name)
    if (table.columns.every(({ name }) => found.includes(name))) continue
    const message = `The database ${database.filename} is damaged (its table ${table.name} has other columns).`
    throw new DomainError('conflict', `${message} Restore the folder from a backup.`)
  }
}

function refuseNewer(database: Database, migrations: readonly string[]): void {
  const version = schemaVersion(database)
  if (version <= migrations.length) return
  const known = `its schema is version ${version}, this Oncebox knows ${migrations.length}`
  throw new DomainError(
    'conflict',
    `${database.filename} was written by a newer Oncebox (${known}). Run that one.`,
  )
}
