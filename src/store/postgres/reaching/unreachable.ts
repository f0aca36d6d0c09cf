// Explains, in sentences for the operator, why a PostgreSQL server cannot be reached. No sentence contains a
// password.

import { type DatabaseAddress, presentDatabaseAddress } from '../../../domain/database-address.ts'
import { conflict, DomainError } from '../../../domain/errors.ts'
import { codeOf } from '../../../domain/system-errors.ts'
import { serverText, stateOf } from '../engine/failures.ts'
import { SCHEMA } from '../engine/session.ts'

type Unreachable = {
  error: DomainError
  /** Whether waiting may help. */
  mayPass: boolean
  /** Whether the server seems to be down or unreachable. */
  isAway: boolean
}

/** Returns null for an error of neither the client nor the server. */
export function explainUnreachable(address: DatabaseAddress, cause: unknown): Unreachable | null {
  if (!(cause instanceof Error) || cause instanceof DomainError) return null
  const state = stateOf(cause)
  const code = codeOf(cause).replace(/^ERR_POSTGRES_/, 'postgres ')
  if (state === '' && !OF_CLIENT.test(code)) return null
  const sign = state === '' ? `${code} ${cause.message}` : state
  const found = REASONS.find((reason) => reason.sign.test(sign))
  const said = serverText(cause.message).replace(/\.?$/, '')
  const text = `${presentDatabaseAddress(address)}: ${fill(found?.words ?? '', address)} (${said}).`
  return {
    error: conflict(text),
    mayPass: found?.reasons !== LASTING,
    isAway: found?.reasons === AWAY,
  }
}

function fill(words: string, { host, user, database, tls }: DatabaseAddress): string {
  const values: Record<string, string> = {
    ...{ host, user: JSON.stringify(user), database: JSON.stringify(database), cert: tls.cert ?? 'sslcert' },
  }
  return words.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')
}

/** The codes of OpenSSL and Node for a refused certificate. */
const CERTIFICATE = '\\S*(CERT|CRL|SIGNATURE|ALTNAME|HOSTNAME|ISSUER)'
const OF_CLIENT = new RegExp(`^(postgres |ECONN|EPIPE$|ETIMEDOUT$|EPROTO$|${CERTIFICATE})`)

/**
 * Reasons by pattern; the first match wins. Patterns match the SQLSTATE, or code and message of the client.
 */
type Reasons = Readonly<Record<string, string>>

const AWAY: Reasons = {
  'postgres CONNECTION_(REFUSED|FAILED)':
    'nothing answers there. See that the server runs, that it listens for this machine, and that the address is right',
  'postgres CONNECTION_CLOSED|57P0[12]': 'the connection was lost. See whether the server runs, and its log',
  'postgres CONNECTION_(TIMEOUT|STALLED)':
    'it does not answer. See whether it runs, whether it is overloaded, and the network in between',
  '57P03': 'it is starting or stopping. If that takes long, see its log',
}

/** Reasons after which waiting may help. */
const PASSING: Reasons = {
  '3F000|42P01':
    'it has no tables of Oncebox any more. See whether they are being restored, and whether the address names the right database; ' +
    'after a restore, "oncebox expire-all" comes first. A start makes new tables, for which all earlier links are unknown',
  '53300':
    'it has no free connection. Raise its max_connections (or the connection limit of the user or the database), lower ' +
    '--database-connections of the nodes, or see in pg_stat_activity who else holds connections',
  '57014|57P05|25P03':
    'it ends a new connection before its first statements, or cancels them. See whether it is overloaded, and whether ' +
    'statement_timeout, idle_session_timeout or idle_in_transaction_session_timeout of the user or the database is only a few ' +
    'milliseconds (ALTER ROLE … RESET …)',
}

const LASTING: Reasons = {
  '28P01|28000':
    'it refuses the user {user} or the password. Give the password with ONCEBOX_DATABASE_PASSWORD_FILE (a node reads it when it ' +
    'starts: start it again after a change), and see that pg_hba.conf lets this user in from here',
  '3D000': 'there is no database {database}. Make it: CREATE DATABASE {database} OWNER {user}',
  '42501':
    'the user may not make or use the tables. Make it the owner of the database, and of the schema if that is there: ALTER DATABASE ' +
    `{database} OWNER TO {user}; ALTER SCHEMA ${SCHEMA} OWNER TO {user}`,
  '53100': 'its disk is full. Make room on it, but remove nothing from pg_wal by hand',
  '08P01':
    'it refuses the settings of the connection. Is it a pooler? Oncebox needs PostgreSQL itself, or a pooler by session',
  'postgres UNEXPECTED_MESSAGE': 'what answers there is no PostgreSQL: see that host and port are right',
  'postgres TLS_NOT_AVAILABLE':
    'it does not speak TLS. Switch TLS on there; only on this machine, or on a network that nobody else can reach, ?sslmode=disable ' +
    'goes without',
  'CERT_(HAS_EXPIRED|NOT_YET_VALID)':
    'its certificate has expired or is not valid yet, or the clock of this machine is wrong. Renew ssl_cert_file there and reload the ' +
    'server; connections that are open go on, and nodes notice the new one by themselves',
  [CERTIFICATE]:
    'its certificate is not trusted. Name the authority that signed it with ?sslrootcert=/path/to/authority.pem, and use a name that is ' +
    'in the certificate (here {host}); only on a network that nobody else can reach, ?sslmode=require skips the check',
  'EPROTO .*ALERT_(UNKNOWN_CA|.*CERTIFICATE|ACCESS_DENIED|DECRYPT_ERROR)':
    'it refuses the certificate of this machine ({cert}). See that it has not expired, and that an authority in ssl_ca_file of the ' +
    'server signed it; a node reads it when it starts: start it again after a change',
  '': 'it cannot be used',
}

const REASONS = [AWAY, PASSING, LASTING].flatMap((reasons) =>
  Object.entries(reasons).map(([sign, words]) => ({ sign: new RegExp(`^(${sign})`), reasons, words })),
)
