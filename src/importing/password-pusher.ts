// Reads the data of a Password Pusher 2.x: its SQLite database and its storage folder. Nothing is written there.

import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type {
  IncomingAccount,
  IncomingFile,
  IncomingPush,
  IncomingSource,
  Unreadable,
} from '../domain/incoming.ts'
import { type Blob, incomingFile } from './blobs.ts'
import { createGrouped } from './grouped.ts'
import { explainForeign, openForeignDatabase } from './open-database.ts'
import { type Row, readAccount, readEntry, readPush } from './rows.ts'
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

  function* readPushes(): Generator<IncomingPush | Unreadable> {
    const entriesOf = createGrouped(entriesByPush(database, select))
    const filesOf = createGrouped(filesByPush(database, options.storage))
    const rows = database.prepare<Row, []>(`SELECT ${select('pushes')} FROM pushes ORDER BY id`)
    for (const row of rows.iterate()) {
      const id = Number(row.id)
      yield readPush({ row, entries: entriesOf(id), files: filesOf(id), unseal })
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

/** Sorts nothing but numbers, so that memory stays flat where the old server has no index; reads each entry by its id. */
function* entriesByPush(database: Database, select: Select) {
  const ids = database.prepare<{ id: number; group: number }, []>(
    'SELECT id, push_id AS "group" FROM audit_logs ORDER BY push_id, id',
  )
  const byId = database.prepare<Row, [number]>(`SELECT ${select('audit_logs')} FROM audit_logs WHERE id = ?`)
  for (const { id, group } of ids.iterate()) {
    const row = byId.get(id)
    const entry = row === null ? null : readEntry(row)
    if (entry !== null) yield { group, value: entry }
  }
}

function* filesByPush(
  database: Database,
  storage: string | null,
): Generator<{ group: number; value: IncomingFile }> {
  const rows = database.prepare<Blob & { group: number }, []>(FILES)
  for (const { group, ...blob } of rows.iterate()) yield { group, value: incomingFile(blob, storage) }
}

/** An attachment without its blob has no key, and so its push does not come. */
const FILES = `
  SELECT attachment.record_id AS "group", blob.key, blob.filename, blob.content_type AS contentType,
    blob.byte_size AS size, blob.checksum, blob.service_name AS service
  FROM active_storage_attachments AS attachment
  LEFT JOIN active_storage_blobs AS blob ON blob.id = attachment.blob_id
  WHERE attachment.record_type = 'Push' AND attachment.name = 'files'
  ORDER BY attachment.record_id, attachment.id`

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
