// Reads the data of a Password Pusher 2.x: its SQLite database and its storage folder. Nothing is written there.

import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { IncomingAccount, IncomingPush, IncomingSource, Unreadable } from '../domain/incoming.ts'
import { readBelongings } from './belongings.ts'
import { explainForeign, openForeignDatabase } from './open-database.ts'
import { type Row, readAccount, readPush } from './rows.ts'
import { createUnseal, PUBLISHED_KEY, type Unseal } from './sealed-columns.ts'
import { requireTables, type Select } from './tables.ts'

export type PasswordPusherOptions = {
  /** The path of the SQLite file. */
  database: string
  /** The folder of the files; null when none was named. */
  storage: string | null
  /** In hex; the first is the present one. */
  masterKeys: readonly string[]
}

/** Throws `conflict` when the database cannot be read or is of another version. */
export function openPasswordPusher(options: PasswordPusherOptions): IncomingSource {
  const database = openForeignDatabase(options.database)
  try {
    return openSource(database, options)
  } catch (cause) {
    database.close()
    throw explainForeign(options.database, cause)
  }
}

function openSource(database: Database, options: PasswordPusherOptions): IncomingSource {
  const { version, isNewer, select, hasConfirmations } = requireTables(database, options.database)
  const fitting = new Set<string>()
  const unseal = createUnseal(options.masterKeys, (key) => void fitting.add(key))
  const opens = opensAny(database, { select, unseal })
  const explained = <T>(rows: () => Generator<T>) => explaining(options.database, rows)

  function* readAccounts(): Generator<IncomingAccount> {
    const rows = database.prepare<Row, []>(`SELECT ${select('users')} FROM users ORDER BY id`)
    for (const row of rows.iterate()) yield readAccount({ row, unseal, hasConfirmations })
  }

  /** Sorts nothing but ids and times, so that memory stays flat; lists here are in the order of creation. */
  function* readPushes(): Generator<IncomingPush | Unreadable> {
    const { entriesOf, filesOf } = readBelongings(database, { select, storage: options.storage })
    const ids = database.prepare<{ id: number }, []>('SELECT id FROM pushes ORDER BY created_at, id')
    const byId = database.prepare<Row, [number]>(`SELECT ${select('pushes')} FROM pushes WHERE id = ?`)
    for (const { id } of ids.iterate()) {
      const row = byId.get(id)
      if (row !== null) yield readPush({ row, entries: entriesOf(id), files: filesOf(id), unseal })
    }
  }

  return {
    version,
    counts: { accounts: countOf(database, 'users'), pushes: countOf(database, 'pushes') },
    opens,
    isDefaultKey: fitting.has(PUBLISHED_KEY),
    warnings: warningsOf(options.database, { version, isNewer }),
    readAccounts: () => explained(readAccounts),
    readPushes: () => explained(readPushes),
    close: () => database.close(),
  }
}

/** Rows of a damaged database end the import with a sentence that names the file. */
function* explaining<T>(path: string, rows: () => Generator<T>): Generator<T> {
  try {
    yield* rows()
  } catch (cause) {
    throw explainForeign(path, cause)
  }
}

/** Ends with the first value that opens. */
function opensAny(
  database: Database,
  { select, unseal }: { select: Select; unseal: Unseal },
): boolean | null {
  const columns = {
    pushes: ['payload_ciphertext', 'passphrase_ciphertext', 'note_ciphertext'],
    users: ['otp_secret_ciphertext'],
  } as const
  let found = 0
  for (const table of ['pushes', 'users'] as const) {
    for (const row of database.prepare<Row, []>(`SELECT ${select(table)} FROM ${table}`).iterate()) {
      const sealed = columns[table].filter((column) => row[column] !== null && row[column] !== '')
      found += sealed.length
      if (sealed.some((column) => unseal({ table, column }, row[column]) !== null)) return true
    }
  }
  return found === 0 ? null : false
}

function countOf(database: Database, table: 'users' | 'pushes'): number {
  return database.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows ?? 0
}

function warningsOf(path: string, { version, isNewer }: { version: string; isNewer: boolean }): string[] {
  const warnings: string[] = []
  if (isNewer) warnings.push(`The database is of version ${version}, which is newer than any known here.`)
  if (existsSync(`${path}-shm`))
    warnings.push(
      `Beside the database lies ${path}-shm: the old server seems to run, or has crashed. Stop it before the import, ` +
        'because views that it counts from now on are not known here.',
    )
  return warnings
}
