// Looks into the database of a data folder for a report, beside a server or without one. Changes nothing.

import { constants, Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Keyring } from '../../crypto/keyring.ts'
import type { DataFolder } from '../folder/data-folder.ts'
import { explainFailure } from '../folder/sqlite-failures.ts'
import type { Connection } from '../sqlite/engine/database.ts'
import { isLogLost, requireHome } from '../sqlite/engine/home.ts'
import { readClockMark, refuseCopied, requireIntact, requireKeys } from '../sqlite/engine/instance.ts'
import { requireCurrentSchema } from '../sqlite/engine/migrate.ts'
import { createSteps } from '../sqlite/engine/run-steps.ts'

const BUSY_MS = 5_000

export type LookOptions = {
  isServed: boolean
  /** Checks a database of any size, which takes minutes for a large one. */
  isDeep: boolean
}

export type DatabaseLook = Awaited<ReturnType<typeof lookIntoDatabase>>

/** Throws, in the words of a start, what keeps the database from being served. The caller closes it. */
export async function lookIntoDatabase(folder: DataFolder, { isServed, isDeep }: LookOptions) {
  try {
    const connection = openForReading(folder, isServed)
    try {
      requireCurrentSchema(connection.database)
      refuseCopied(connection)
      requireIntact(connection, isDeep ? Number.POSITIVE_INFINITY : undefined)
      // The server that runs has looked, and may know the folder by another path.
      if (!isServed) await requireHome(connection, { folder, isLogLost: isLogLost(folder), ...REFUSING })
    } catch (cause) {
      connection.close()
      throw cause
    }
    return {
      read: createSteps(connection.database, refuseToWrite, () => undefined).read,
      requireKeys: (keyring: Keyring) => void requireKeys(connection, keyring),
      readClockMark: (now: number) => readClockMark(connection, { now, accept: false }),
      close: connection.close,
    }
  } catch (cause) {
    throw explainFailure(folder.database, cause)
  }
}

const refuseToWrite = () => Promise.reject(new Error('this database is open for reading'))

/** A database without a log is opened as immutable: it is complete then, and reading it otherwise would create a log file. */
function openForReading({ database: path }: DataFolder, isServed: boolean): Connection {
  const isImmutable = !isServed && !existsSync(`${path}-wal`)
  const address = `${Bun.pathToFileURL(path).href}${isImmutable ? '?immutable=1' : ''}`
  const database = new Database(address, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI)
  // Refusals name the file, and not this address.
  Object.assign(database, { filename: path })
  database.run(`PRAGMA busy_timeout = ${BUSY_MS}`)
  return { database, orm: drizzle({ client: database }), close: () => database.close(true) }
}

const REFUSING = { acceptMove: false, onWarning: () => undefined }
