// The database of a backup while it is restored: its rows in a new database of this program, made ready for
// its first start.

import type { Database } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'
import type { Visit } from '../../domain/audit.ts'
import { conflict } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { demotePasskeys } from '../accounts/passkeys.ts'
import { explainFailure, isFull } from '../folder/sqlite-failures.ts'
import { type Keys, readClockMark, requireKeys, writeClockMark } from '../instance.ts'
import { countEventsFrom } from '../notices/events.ts'
import { loseSome } from '../pushes/expiry.ts'
import { type Linked, type OwnedPush, relinkSome } from '../pushes/rekeying.ts'
import { openKeylessCopy } from '../sqlite/keyless-copy.ts'
import { migrate } from '../sqlite/migrate.ts'
import { createDrive } from '../sqlite/run-steps.ts'
import { statement } from '../statements.ts'
import { all, breathe, first, run } from '../steps.ts'

type BackupToken = { email: string; name: string; prefix: string; lastUsedAt: number | null }

type BackupContent = {
  accounts: number
  pushes: number
  /**
   * The number of pushes that could be opened when the backup was made and have not expired since. A restore
   * expires them.
   */
  active: number
  /** Entries of audit logs. */
  entries: number
  /** The number of rows that are not restored, because the table forbids one of their values. */
  leftOut: number
  /** The API tokens, sorted by account. */
  apiTokens: readonly BackupToken[]
}

export type EndLive = {
  /** The time of the restore. The first start treats it as the last use of the folder. */
  now: number
  /** The visit to record in the log of each lost push. */
  visit: Visit
  /** Makes a new link for a push of an account. */
  relink: (push: OwnedPush) => Linked
  /** Called from time to time with the number of finished pushes and their total. */
  onProgress: (done: number, total: number) => void
}

type RestoredStoreOptions = {
  /** The database of the backup, which is untrusted. */
  from: string
  /** The path of the new database. */
  path: string
  /** Names the backup in refusals. */
  name: string
}

/**
 * Opens the database of a backup and creates the restored one. Throws `conflict` unless the source is a
 * database of Oncebox of a known version. If the process is killed, the new database stays unusable.
 */
export function openRestoredStore({ from, path, name }: RestoredStoreOptions) {
  closeSync(openSync(path, 'wx', 0o600))
  try {
    const place = { source: from, name: `The database in ${name}`, path }
    const { database, schema, write } = openKeylessCopy(place)
    try {
      const leftOut = write({ isServed: false })
      database.run('DETACH source')
      migrate(database)
      /** `schema`: the version that the backup was made with. */
      return { schema, ...createOperations(database, leftOut) }
    } catch (cause) {
      database.close()
      throw cause
    }
  } catch (cause) {
    if (isFull(cause) || explainFailure('', cause) === cause) throw cause
    throw conflict(`The database in ${name} cannot be restored: SQLite cannot read it (${reasonOf(cause)}).`)
  }
}

type Counts = Pick<BackupContent, 'accounts' | 'pushes' | 'active' | 'entries'>

const COUNTS = statement<Counts>(
  `SELECT (SELECT count(*) FROM accounts) AS accounts, (SELECT count(*) FROM pushes) AS pushes,
    (SELECT count(*) FROM audit_entries) AS entries,
    (SELECT count(*) FROM pushes WHERE expired_on IS NULL AND expires_at > $1) AS active`,
)
const LIVE = statement<{ count: number }>('SELECT count(*) AS count FROM pushes WHERE expired_on IS NULL')
const API_TOKENS = statement<BackupToken>(
  `SELECT email, name, prefix, last_used_at AS "lastUsedAt"
    FROM api_tokens JOIN accounts ON accounts.id = account_id ORDER BY email, api_tokens.id`,
)
/** Deletes API tokens and webhooks, because the backup may hold some that were deleted after it. */
const REVOKE = ['api_tokens', 'webhooks'].map((table) => statement(`DELETE FROM ${table}`))
function createOperations(database: Database, leftOut: number) {
  const drive = createDrive(database)

  /** Counts the content. Pushes that expire by `now` do not count as live. */
  function read(now: number): BackupContent {
    const counts = drive(first(COUNTS, now)) ?? { accounts: 0, pushes: 0, active: 0, entries: 0 }
    return { ...counts, leftOut, apiTokens: drive(all(API_TOKENS)) }
  }

  /**
   * Expires live pushes as lost, gives the pushes of accounts new links, and turns passkeys into second
   * factors. Resolves to the number of lost pushes.
   */
  async function endLive({ now, visit, relink, onProgress }: EndLive): Promise<number> {
    const total = drive(first(LIVE))?.count ?? 0
    let [done, lost] = [0, 0]
    // Backups contain no events, so begin the numbers after all former ones.
    drive(countEventsFrom(now))
    drive(demotePasskeys())
    const loseNext = database.transaction(() => drive(loseSome({ now, visit })))
    for (let some = loseNext(); some.found > 0; some = loseNext()) {
      done += some.found
      lost += some.lost
      onProgress(done, total)
      await breathe()
    }
    const relinkNext = database.transaction((after: number) => drive(relinkSome(after, relink)))
    for (let after: number | null = 0; after !== null; ) after = relinkNext(after)
    drive(writeClockMark({ mark: now, doubted: null }))
    return lost
  }

  return {
    read,
    endLive,
    /** Throws `conflict` unless these are the keys that the database was written with. */
    requireKeys: (keys: Keys) => void drive(requireKeys(keys)),
    /** Returns the latest time that the server had recorded when the backup was made. */
    lastUsed: () => drive(readClockMark()).mark,
    revokeApiTokens: () => {
      for (const statement of REVOKE) drive(run(statement))
    },
    close: () => database.close(true),
  }
}
