// What went wrong at PostgreSQL: which failures pass by themselves, which end the connection, and what a caller is told.

import { DrizzleQueryError } from 'drizzle-orm/errors'
import { DamageError, DomainError } from '../../../domain/errors.ts'
import { codeOf } from '../../../domain/system-errors.ts'
import { serverText } from './server-text.ts'

/** An error of a statement that no retry mends. `detail` of the server's error is left out, because it holds values of rows. */
export class StatementError extends Error {
  override name = 'StatementError'
  /** The SQLSTATE. */
  readonly errno: string
  readonly constraint: string

  constructor(state: string, { message, constraint }: { message: string; constraint: string }) {
    super(`PostgreSQL: ${message} (${state})`)
    this.errno = state
    this.constraint = constraint
  }
}

/** The SQLSTATE of an error, also of one that drizzle wrapped. Empty for an error that the server did not send. */
export function stateOf(cause: unknown): string {
  const inner = innermost(cause)
  const state = inner instanceof Error && 'errno' in inner ? String(inner.errno) : ''
  return /^[0-9A-Z]{5}$/.test(state) ? state : ''
}

/** drizzle's own error quotes the statement and its parameters. */
function innermost(cause: unknown): unknown {
  return cause instanceof DrizzleQueryError && cause.cause !== undefined ? cause.cause : cause
}

/** Whether the connection cannot be used any more, as far as the error tells. */
export function endsConnection(cause: unknown): boolean {
  const inner = innermost(cause)
  if (inner instanceof Error && 'severity' in inner && /FATAL|PANIC/.test(String(inner.severity))) return true
  const state = stateOf(inner)
  // Errors of Bun's client leave the connection in an unknown state.
  return state === '' ? codeOf(inner).startsWith('ERR_POSTGRES_') : CONNECTION_STATES.test(state)
}

/** Connection failures, shutdowns, a server that became a standby, and plans or statements that the server does not have. */
const CONNECTION_STATES = /^(08...|57P0.|25P0[34]|25006|26000|0A000)$/

/** Whether the same work may succeed when it runs again. */
export function isPassing(cause: unknown): boolean {
  const inner = innermost(cause)
  const state = stateOf(inner)
  if (state === '0A000') return inner instanceof Error && inner.message.includes('cached plan')
  return state === '' ? LOST.test(codeOf(inner)) : PASSING_STATES.test(state)
}

const LOST = /^ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME)_|^ECONN|^EPIPE$|^ETIMEDOUT$/
/** Conflicts of transactions, timeouts of locks and statements, and a server that is full, read-only, starting or stopping. */
const PASSING_STATES = /^(08...|40001|40P01|55P03|57014|57P0.|25P0[34]|25006|26000|53[03]00|53400)$/

export const PERMISSION = '42501'
const DISK_FULL = '53100'
const DAMAGED = /^XX00[12]$/

/** What the caller of a work is told of an error that was not passing. */
export function explainFailure(cause: unknown): unknown {
  const state = stateOf(cause)
  if (state === DISK_FULL)
    return new DomainError('disk_full', 'The disk of the database server is full; nothing was stored.')
  const inner = innermost(cause)
  if (state === '' || !(inner instanceof Error)) return inner
  if (DAMAGED.test(state)) return new DamageError(`its database (${serverText(inner.message)})`, 'server')
  const constraint = 'constraint' in inner ? String(inner.constraint) : ''
  return new StatementError(state, { message: messageOf(inner, state), constraint })
}

/** Fit for the log. Errors about data quote it, and a function of somebody may say anything, with values of rows. */
function messageOf({ message }: Error, state: string): string {
  if (RAISED.test(state))
    return 'a function or trigger in the database refuses this; the log of PostgreSQL has its words'
  const said = serverText(DATA.test(state) ? message.replace(/".*"/s, '"…"') : message)
  return state === PERMISSION
    ? `${said}. Grant the user of --database-url all rights on the tables of Oncebox`
    : said
}

const DATA = /^22/
const RAISED = /^P0/

/** The answer when the database cannot be reached or does not answer in time; also when the outcome is unknown. */
export function unavailable(cause: unknown): DomainError {
  const error = new DomainError('overloaded', 'The database does not answer; try again in a moment.', {
    retryAfter: 2,
  })
  error.cause = cause
  return error
}

/** The same for the same kind of failure. */
export function reasonOf(cause: unknown): string {
  return cause instanceof DomainError ? cause.message : `${codeOf(cause)} ${stateOf(cause)}`
}
