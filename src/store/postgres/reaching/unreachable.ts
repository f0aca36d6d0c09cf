// Why a server of PostgreSQL cannot be connected to, as sentences for the operator. None holds a password.

import { type DatabaseAddress, presentDatabaseAddress } from '../../../domain/database-address.ts'
import { DomainError } from '../../../domain/errors.ts'
import { codeOf } from '../../../domain/system-errors.ts'
import { serverText, stateOf } from '../engine/failures.ts'
import { SCHEMA } from '../engine/session.ts'

export type Unreachable = {
  error: DomainError
  /** Whether waiting may help. */
  mayPass: boolean
  /** Whether it does not run, or cannot be reached, as far as this side can tell. */
  isAway: boolean
}

/** Null for what neither the client nor the server has reported. */
export function explainUnreachable(address: DatabaseAddress, cause: unknown): Unreachable | null {
  if (!(cause instanceof Error) || cause instanceof DomainError || !isOfDatabase(cause)) return null
  const { words, mayPass, isAway = false } = findReason(cause)
  const name = presentDatabaseAddress(address)
  const error = new DomainError('conflict', `${name}: ${words(address)} (${saidBy(cause)}).`)
  return { error, mayPass, isAway }
}

const saidBy = (cause: Error) => serverText(cause.message).replace(/\.?$/, '')

function isOfDatabase(cause: Error): boolean {
  const code = codeOf(cause)
  return (
    stateOf(cause) !== '' ||
    /^ERR_POSTGRES_|^ECONN|^EPIPE$|^ETIMEDOUT$|^EPROTO$/.test(code) ||
    CERTIFICATE.test(code)
  )
}

function findReason(cause: Error): Reason {
  const short = codeOf(cause).replace(/^ERR_POSTGRES_/, '')
  const known = STATES[stateOf(cause)] ?? CODES[short]
  if (known !== undefined) return known
  if (short === 'EPROTO' && REFUSED_CLIENT.test(cause.message)) return CLIENT_NOT_TRUSTED
  return CERTIFICATE.test(short) ? NOT_TRUSTED : UNEXPLAINED
}

/** Codes of OpenSSL and Node for certificates that are refused. */
const CERTIFICATE = /CERT|CRL|SIGNATURE|ALTNAME|HOSTNAME|ISSUER/

/** What the server says of the certificate of this side, as TLS names it. */
const REFUSED_CLIENT = /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|.*CERTIFICATE|ACCESS_DENIED|DECRYPT_ERROR)/

type Reason = {
  words: (address: DatabaseAddress) => string
  mayPass: boolean
  isAway?: boolean
}

const away = (words: string): Reason => ({ words: () => words, mayPass: true, isAway: true })
const passing = (words: string): Reason => ({ words: () => words, mayPass: true })
const lasting = (words: string): Reason => ({ words: () => words, mayPass: false })

const NOT_TRUSTED: Reason = {
  words: ({ host }) =>
    'its certificate is not trusted. Name the authority that signed it with ?sslrootcert=/path/to/authority.pem, and use a name ' +
    `that is in the certificate (here ${host}); only on a network that nobody else can reach, ?sslmode=require skips the check`,
  mayPass: false,
}
const CLIENT_NOT_TRUSTED: Reason = {
  words: ({ tls }) =>
    `it refuses the certificate of this machine (${tls.cert ?? 'sslcert'}). See that it has not expired, and that an authority in ` +
    'ssl_ca_file of the server signed it; a node reads it when it starts: start it again after a change',
  mayPass: false,
}
const UNEXPLAINED = lasting('it cannot be used')

const WRONG_LOGIN: Reason = {
  words: ({ user }) =>
    `it refuses the user ${JSON.stringify(user)} or the password. Give the password with ONCEBOX_DATABASE_PASSWORD_FILE (a ` +
    'node reads it when it starts: start it again after a change), and see that pg_hba.conf lets this user in from here',
  mayPass: false,
}
const ABSENT = away(
  'nothing answers there. See that the server runs, that it listens for this machine, and that the address is right',
)
const LOST = away('the connection was lost. See whether the server runs, and its log')

const SILENT = away(
  'it does not answer. See whether it runs, whether it is overloaded, and the network in between',
)

const EMPTIED = passing(
  'it has no tables of Oncebox any more. See whether they are being restored, and whether the address names the right database; after a ' +
    'restore, "oncebox expire-all" comes first. A start makes new tables, for which all earlier links are unknown',
)

const ENDED_IDLE = passing(
  'it ends a new connection before its first statements. See whether it is overloaded, and whether idle_session_timeout or ' +
    'idle_in_transaction_session_timeout of the user or the database is only a few milliseconds (ALTER ROLE … RESET …)',
)

const STATES: Record<string, Reason> = {
  '28P01': WRONG_LOGIN,
  '28000': WRONG_LOGIN,
  '3D000': {
    words: ({ database, user }) =>
      `there is no database ${JSON.stringify(database)}. Make it: CREATE DATABASE ${JSON.stringify(database)} OWNER ${JSON.stringify(user)}`,
    mayPass: false,
  },
  '42501': {
    words: ({ user, database }) =>
      `the user may not make or use the tables. Make it the owner of the database, and of the schema if that is there: ALTER DATABASE ${JSON.stringify(database)} ` +
      `OWNER TO ${JSON.stringify(user)}; ALTER SCHEMA ${SCHEMA} OWNER TO ${JSON.stringify(user)}`,
    mayPass: false,
  },
  '3F000': EMPTIED,
  '42P01': EMPTIED,
  '53100': lasting('its disk is full. Make room on it, but remove nothing from pg_wal by hand'),
  '57014': passing(
    'it cancels the first statements of a connection. See whether it is overloaded, and whether statement_timeout of the user or ' +
      'the database is only a few milliseconds (ALTER ROLE … RESET statement_timeout)',
  ),
  '53300': passing(
    'it has no free connection. Raise its max_connections (or the connection limit of the user or the database), lower ' +
      '--database-connections of the nodes, or see in pg_stat_activity who else holds connections',
  ),
  '25P03': ENDED_IDLE,
  '57P01': LOST,
  '57P02': LOST,
  '57P03': away('it is starting or stopping. If that takes long, see its log'),
  '57P05': ENDED_IDLE,
  '08P01': lasting(
    'it refuses the settings of the connection. Is it a pooler? Oncebox needs PostgreSQL itself, or a pooler by session',
  ),
}

const CODES: Record<string, Reason> = {
  CERT_HAS_EXPIRED: lasting(
    'its certificate has expired (or the clock of this machine is wrong). Renew ssl_cert_file there and reload the server; ' +
      'connections that are open go on, and nodes notice the new one by themselves',
  ),
  CERT_NOT_YET_VALID: lasting(
    'its certificate is not valid yet: see whether the clock of this machine is right',
  ),
  CONNECTION_REFUSED: ABSENT,
  CONNECTION_TIMEOUT: SILENT,
  CONNECTION_STALLED: SILENT,
  CONNECTION_FAILED: ABSENT,
  CONNECTION_CLOSED: LOST,
  TLS_NOT_AVAILABLE: lasting(
    'it does not speak TLS. Switch TLS on there; only on this machine, or on a network that nobody else can reach, ' +
      '?sslmode=disable goes without',
  ),
  TLS_UPGRADE_FAILED: lasting('TLS failed'),
  UNEXPECTED_MESSAGE: lasting('what answers there is no PostgreSQL: see that host and port are right'),
}
