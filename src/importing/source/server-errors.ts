// What can go wrong with another server's database server, as sentences for the operator. None holds a password.

import { type DatabaseAddress, presentDatabaseAddress } from '../../domain/database-address.ts'
import { DomainError } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'

/** What is neither an error of the client nor of the server is returned as it is. */
export function explainServer(address: DatabaseAddress, cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof DomainError) return cause
  const code = codeOf(cause)
  if (code === '') return cause
  const name = presentDatabaseAddress(address)
  const said = cause.message.replace(/\.?$/, '.')
  const state = 'errno' in cause ? String(cause.errno) : ''
  const short = code.replace(/^ERR_(POSTGRES|MYSQL)_/, '')
  const words = STATES[state] ?? CODES[short] ?? otherWords(short)
  return new DomainError('conflict', `${name}: ${words(address)} (${said}) Nothing was imported.`)
}

function otherWords(code: string): Words {
  if (CERTIFICATE.test(code)) return notTrusted
  return code.endsWith('_ERROR') ? unexplained : notUnderstood
}

/** Codes of OpenSSL and Node for certificates that are refused. */
const CERTIFICATE = /CERT|CRL|SIGNATURE|ALTNAME|HOSTNAME|ISSUER/

type Words = (address: DatabaseAddress) => string

const wrongLogin: Words = ({ user }) =>
  `it refuses ${user === null ? 'the user' : `the user ${JSON.stringify(user)}`} or the password; the password can stand in ` +
  'the address, in a file (--database-password-file), or in PGPASSWORD or MYSQL_PWD'
const noDatabase: Words = ({ database }) => `there is no database ${JSON.stringify(database)}`
const mayNotRead: Words = () => 'the user may not read its tables; give the one that the old server uses'

const unreachable: Words = () =>
  'nothing answers there. The old server must be stopped, but its database server must run, and be reachable from here'
const lost: Words = () => 'the connection was lost'
const unexplained: Words = () => 'it cannot be read'
const notTrusted: Words = () =>
  'its certificate is not trusted; name its authority with sslrootcert (PostgreSQL) or sslca (MySQL) in the address'
const notUnderstood: Words = ({ engine }) =>
  `what answers there is not understood; is it a server of ${engine === 'postgres' ? 'PostgreSQL' : 'MySQL or MariaDB'}?`

/** SQLSTATE of PostgreSQL, numbers of MySQL. */
const STATES: Record<string, Words> = {
  '28P01': wrongLogin,
  '28000': wrongLogin,
  '1045': wrongLogin,
  '1698': wrongLogin,
  '3D000': noDatabase,
  '1049': noDatabase,
  '1044': mayNotRead,
  '42501': mayNotRead,
  '1142': mayNotRead,
  '1143': mayNotRead,
  '57P01': lost,
  '57P02': lost,
  '57P03': () => 'its database server is starting or stopping; try again in a moment',
  '1053': lost,
  '1927': lost,
}

const CODES: Record<string, Words> = {
  CONNECTION_REFUSED: unreachable,
  CONNECTION_TIMEOUT: unreachable,
  CONNECTION_FAILED: unreachable,
  CONNECTION_CLOSED: lost,
  TLS_NOT_AVAILABLE: () => 'it does not speak TLS, which the address asks for',
  TLS_UPGRADE_FAILED: () => 'TLS failed',
  // MySQL's handshake ends like this, too, where the server has no TLS.
  AUTHENTICATION_FAILED: () =>
    'the handshake failed; perhaps it does not speak TLS, which the address asks for',
  PUBLIC_KEY_RETRIEVAL_NOT_ALLOWED: () =>
    'it wants the password encrypted, and offers no TLS; connect over TLS, a socket or the loopback address',
}
