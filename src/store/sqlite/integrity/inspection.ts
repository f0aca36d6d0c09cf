// A look at a database that changes nothing, beside a server or without one.

import { constants, Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import type { DataFolder } from '../../folder/data-folder.ts'
import { explainFailure } from '../../folder/sqlite-failures.ts'
import { MIGRATIONS, schemaVersion } from '../engine/migrate.ts'

/** Checking takes about five milliseconds for each MiB. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024

export type Inspection = {
  path: string
  version: number
  /** The version that this program works with. */
  newest: number
  bytes: number
  /** What SQLite finds wrong with its structure; null for nothing. */
  damage: string | null
  verifiers: { number: number; verifier: Uint8Array }[]
  clock: { mark: number; doubted: number | null } | null
}

export type InspectionOptions = { isServed: boolean }

/** Throws a DomainError that tells the operator why the database cannot be read. */
export function inspectDatabase(folder: DataFolder, { isServed }: InspectionOptions): Inspection {
  try {
    const database = openForReading(folder, { isServed })
    try {
      return inspect(database, folder)
    } finally {
      database.close()
    }
  } catch (cause) {
    throw explainFailure(folder.database, cause)
  }
}

/** A database without a log is opened as immutable: it is complete then, and reading it otherwise would create a log file. */
function openForReading({ database: path }: DataFolder, { isServed }: { isServed: boolean }): Database {
  const isImmutable = !isServed && !existsSync(`${path}-wal`)
  const address = `${Bun.pathToFileURL(path).href}${isImmutable ? '?immutable=1' : ''}`
  const database = new Database(address, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI)
  database.run('PRAGMA busy_timeout = 5000')
  return database
}

function inspect(database: Database, folder: DataFolder): Inspection {
  const [version, newest, bytes] = [schemaVersion(database), MIGRATIONS.length, sizeOf(database)]
  const about = { path: folder.database, version, newest, bytes }
  if (version > newest) return { ...about, damage: null, verifiers: [], clock: null }
  const verifiers = database
    .query<{ number: number; verifier: Uint8Array }, []>('SELECT number, verifier FROM instance_keys')
    .all()
  const clock = readClock(database, { isOld: version < newest })
  return { ...about, damage: findDamage(database, bytes), verifiers, clock }
}

function sizeOf(database: Database): number {
  const pragma = (name: string) =>
    Object.values(database.query<Record<string, number>, []>(`PRAGMA ${name}`).get() ?? {})[0] ?? 0
  return pragma('page_count') * pragma('page_size')
}

function findDamage(database: Database, bytes: number): string | null {
  if (bytes > MAX_CHECKED_BYTES) return null
  const found = database.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()?.quick_check
  return found === undefined || found === 'ok' ? null : found.replaceAll('\n', ' ')
}

/** Databases of older versions have no column for a doubt. */
function readClock(database: Database, { isOld }: { isOld: boolean }): Inspection['clock'] {
  const doubted = isOld ? 'NULL' : 'clock_doubted'
  return database
    .query<{ mark: number; doubted: number | null }, []>(
      `SELECT clock_mark AS mark, ${doubted} AS doubted FROM instance`,
    )
    .get()
}
