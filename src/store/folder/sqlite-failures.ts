// The meaning of SQLite's errors about a file: of the database, and of the locks of a data folder, which are
// SQLite files too.

import { conflict } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'
import { diskFull, overloaded } from '../refusals.ts'

/**
 * Any error of SQLite while a database is opened concerns its file: damaged, forbidden, locked, or on a full
 * disk.
 */
const UNUSABLE = /^SQLITE_/
const RESTORE = 'Restore the folder from a backup.'

/** Turns an error of SQLite about the file into a DomainError with a remedy for the operator. */
export function explainFailure(path: string, cause: unknown): unknown {
  const code = codeOf(cause)
  if (!(cause instanceof Error) || !UNUSABLE.test(code)) return cause
  const [, remedy = ''] = REMEDIES.find(([codes]) => codes.test(code)) ?? []
  return conflict(`Cannot use the database ${path}: ${cause.message}. ${remedy}`.trimEnd())
}

const REMEDIES: [RegExp, string][] = [
  [/CORRUPT|NOTADB|ERROR/, RESTORE],
  [/CANTOPEN|READONLY|PERM|AUTH/, 'See that this user may read and write it and its folder.'],
  [/BUSY|LOCKED/, 'Another process works on it: try again in a moment.'],
  [/FULL/, 'Make room on its disk.'],
  [/IOERR/, 'Its disk is full or fails: see how much is free, and the log of the system.'],
]

/**
 * Converts a full disk, or a lock that was held too long, into a refusal by this server. Returns any other
 * cause unchanged.
 */
export function refusalOf(cause: unknown): unknown {
  if (isFull(cause)) return diskFull()
  return isBusy(cause) ? overloaded() : cause
}

export function isFull(cause: unknown): boolean {
  return codeOf(cause).startsWith('SQLITE_FULL')
}

export function isBusy(cause: unknown): boolean {
  return codeOf(cause).startsWith('SQLITE_BUSY')
}
