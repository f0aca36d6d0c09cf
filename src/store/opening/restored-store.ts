// The database of a backup while it is restored: its rows in a new database of this program, made ready for its first start.

import { closeSync, openSync } from 'node:fs'
import { and, asc, count, eq, gt, isNull, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Keyring } from '../../crypto/keyring.ts'
import type { Visit } from '../../domain/audit.ts'
import { conflict, type DomainError } from '../../domain/errors.ts'
import { explainFailure, isFull } from '../folder/sqlite-failures.ts'
import { loseSome } from '../pushes/expiry.ts'
import { type Linked, type OwnedPush, relinkSome } from '../pushes/rekeying.ts'
import { requireKeys, writeClockMark } from '../sqlite/engine/instance.ts'
import { openKeylessCopy } from '../sqlite/engine/keyless-copy.ts'
import { MIGRATIONS, migrate } from '../sqlite/engine/migrate.ts'
import { createSteps } from '../sqlite/engine/run-steps.ts'
import { instance } from '../sqlite/engine/schema.ts'
import { accounts, apiTokens, auditEntries, pushes } from '../tables.ts'

export type BackupToken = { email: string; name: string; prefix: string; lastUsedAt: number | null }

export type BackupContent = {
  accounts: number
  pushes: number
  /** Pushes that could still be opened when the backup was made, and whose time is not over. A restore expires them. */
  active: number
  /** Entries of audit logs. */
  entries: number
  /** Rows that are not restored, because a value in them is none that the table can have. */
  leftOut: number
  /** By account. */
  apiTokens: readonly BackupToken[]
}

export type EndLive = {
  /** Also the time that the first start takes for the last use of the folder. */
  now: number
  /** Whose the entry in the log of each lost push is. */
  visit: Visit
  /** Gives a push of an account its fresh link. */
  relink: (push: OwnedPush) => Linked
  /** Told now and then how many pushes are done, of how many. */
  onProgress: (done: number, total: number) => void
}

export type RestoredStore = ReturnType<typeof openRestoredStore>

export type RestoredStoreOptions = {
  /** The database of the backup, which comes from outside. */
  from: string
  /** Where the new one is made. */
  path: string
  /** Names the backup in refusals. */
  name: string
}

/**
 * Throws `conflict` for anything but a database with the rows of Oncebox, and for one of a newer version. A process that is killed
 * meanwhile leaves the new database unusable.
 */
export function openRestoredStore({ from, path, name }: RestoredStoreOptions) {
  closeSync(openSync(path, 'wx', 0o600))
  try {
    const { database, schema, write } = openKeylessCopy({ source: from, path }, (found) => newer(name, found))
    try {
      const leftOut = write({ isServed: false })
      database.run('DETACH source')
      migrate(database)
      const connection = { database, orm: drizzle({ client: database }), close: () => database.close(true) }
      /** `schema`: the version that the backup was made with. */
      return { schema, ...createOperations(connection, leftOut) }
    } catch (cause) {
      database.close()
      throw cause
    }
  } catch (cause) {
    if (isFull(cause) || explainFailure('', cause) === cause) throw cause
    throw refuse(name, `SQLite cannot read it (${cause instanceof Error ? cause.message : cause})`)
  }
}

type Connection = Parameters<typeof requireKeys>[0] & { close(): void }

function createOperations(connection: Connection, leftOut: number) {
  const { database, orm } = connection
  const { within } = createSteps(database, refuseToWait, () => undefined)

  const sizeOf = (table: SQLiteTable, where?: SQL) =>
    orm.select({ n: count() }).from(table).where(where).get()?.n ?? 0

  /** `now` tells the pushes that can still be opened from those whose time is over. */
  function read(now: number): BackupContent {
    const { name, prefix, lastUsedAt } = apiTokens
    const tokens = orm
      .select({ email: accounts.email, name, prefix, lastUsedAt })
      .from(apiTokens)
      .innerJoin(accounts, eq(accounts.id, apiTokens.accountId))
      .orderBy(asc(accounts.email), asc(apiTokens.id))
    return {
      ...{ accounts: sizeOf(accounts), pushes: sizeOf(pushes), entries: sizeOf(auditEntries) },
      active: sizeOf(pushes, and(isNull(pushes.expiredOn), gt(pushes.expiresAt, now))),
      ...{ leftOut, apiTokens: tokens.all() },
    }
  }

  /** Expires as lost what was live, and gives the pushes of accounts fresh links. Resolves to the number of lost pushes. */
  async function endLive({ now, visit, relink, onProgress }: EndLive): Promise<number> {
    const total = sizeOf(pushes, isNull(pushes.expiredOn))
    let [done, lost] = [0, 0]
    const loseNext = database.transaction(() => within(loseSome({ now, visit })))
    for (let some = loseNext(); some.found > 0; some = loseNext()) {
      done += some.found
      lost += some.lost
      onProgress(done, total)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const relinkNext = database.transaction((after: number) => within(relinkSome(after, relink)))
    for (let after: number | null = 0; after !== null; ) after = relinkNext(after)
    writeClockMark(connection, now)
    return lost
  }

  return {
    read,
    endLive,
    /** Throws `conflict` unless these are the keys that the database was written with. */
    requireKeys: (keyring: Keyring) => void requireKeys(connection, keyring),
    /** The latest time that the server had seen when the backup was made. */
    lastUsed: () => orm.select({ mark: instance.clockMark }).from(instance).get()?.mark ?? 0,
    revokeApiTokens: () => void orm.delete(apiTokens).run(),
    close: connection.close,
  }
}

function refuseToWait(): never {
  throw new Error('nothing else writes to the database of a backup')
}

function newer(name: string, schema: number): DomainError {
  const known = `its schema is version ${schema}, this Oncebox knows ${MIGRATIONS.length}`
  return refuse(name, `it was written by a newer Oncebox (${known}). Restore it with that one`)
}

function refuse(name: string, why: string): DomainError {
  return conflict(`The database in ${name} cannot be restored: ${why}.`)
}
