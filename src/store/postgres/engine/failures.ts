// Classifies the errors of PostgreSQL: transient ones, those that end the connection, and the error to throw
// to the caller.

import { DamageError, DomainError } from '../../../domain/errors.ts'
import { codeOf } from '../../../domain/system-errors.ts'
import { printableLine } from '../../../text/printable.ts'

/**
 * A permanent failure of a statement. Omits `detail` of the server's error, because it contains values of
 * rows.
 */
export class StatementError extends Error {
  override name = 'StatementError'
  /** The SQLSTATE. */
  readonly errno: string

  constructor(state: string, message: string) {
    super(`PostgreSQL: ${message} (${state})`)
    this.errno = state
  }
}

/** Returns the SQLSTATE of an error; empty for an error that the server did not send. */
export function stateOf(cause: unknown): string {
  const state = cause instanceof Error && 'errno' in cause ? String(cause.errno) : ''
  return /^[0-9A-Z]{5}$/.test(state) ? state : ''
}

/** Returns whether the error means that the connection is unusable. */
export function endsConnection(cause: unknown): boolean {
  if (cause instanceof Error && 'severity' in cause && /FATAL|PANIC/.test(String(cause.severity))) return true
  const state = stateOf(cause)
  // Errors of Bun's client leave the connection in an unknown state.
  return state === '' ? codeOf(cause).startsWith('ERR_POSTGRES_') : CONNECTION_STATES.test(state)
}

/**
 * Connection failures, shutdowns, a server that became a standby, and plans or statements that the server
 * does not have.
 */
const CONNECTION_STATES = /^(08...|57P0.|25P0[34]|25006|26000|0A000)$/

/** Returns whether a retry may succeed. */
export function isPassing(cause: unknown): boolean {
  const state = stateOf(cause)
  if (state === '0A000') return cause instanceof Error && cause.message.includes('cached plan')
  // The SQLSTATE of a database that accepts no connections at the moment. For a statement it means a mistake.
  if (state === '55000') return endsConnection(cause)
  return state === '' ? LOST.test(codeOf(cause)) : PASSING_STATES.test(state)
}

const LOST = /^ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME)_|^ECONN|^EPIPE$|^ETIMEDOUT$/
/**
 * Conflicts of transactions, timeouts of locks and statements, and a server that is full, read-only, starting
 * or stopping.
 */
const PASSING_STATES =
  /^(08...|40001|40P01|23505|23503|55P03|57014|57P0.|25P0[34]|25006|26000|53[03]00|53400)$/

/** Returns the error for the caller after a permanent failure. */
export function explainFailure(cause: unknown): unknown {
  const state = stateOf(cause)
  if (state === DISK_FULL)
    return new DomainError('disk_full', 'The disk of the database server is full; nothing was stored.')
  if (state === '' || !(cause instanceof Error)) return cause
  if (DAMAGED.test(state)) return new DamageError(`its database (${serverText(cause.message)})`, 'server')
  // The message of a user-defined function, or of an error about data, may quote values of rows.
  if (RAISED.test(state)) return new StatementError(state, REFUSED)
  const said = serverText(DATA.test(state) ? cause.message.replace(/".*"/s, '"…"') : cause.message)
  return new StatementError(state, state === '42501' ? `${said}. ${GRANT}` : said)
}

export const DISK_FULL = '53100'
const DAMAGED = /^XX00[12]$/
const DATA = /^22/
const RAISED = /^P0/
const REFUSED = 'a function or trigger in the database refuses this; the log of PostgreSQL has its words'
const GRANT = 'Grant the user of --database-url all rights on the tables of Oncebox'

/** The maximum length of a quoted message; those of PostgreSQL are shorter. */
const MOST_CHARACTERS = 600

/**
 * Sanitizes text from a database server, or from a row that others may have written: returns one short line
 * without control characters.
 */
export function serverText(text: string): string {
  return printableLine(text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text)
}

/** Returns the refusal for an unreachable or silent database, or an unknown outcome. */
export function unavailable(cause: unknown): DomainError {
  const error = new DomainError('overloaded', 'The database does not answer; try again in a moment.', {
    retryAfter: 2,
  })
  error.cause = cause
  return error
}
