// Explains errors of another server's database server in sentences for the operator, without passwords.

import { type DatabaseAddress, presentDatabaseAddress } from '../../domain/database-address.ts'
import { conflict, DomainError } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'

/** Explains an error of the client or the server to the operator. Returns any other cause unchanged. */
export function explainServer(address: DatabaseAddress, cause: unknown): unknown {
  const code = codeOf(cause)
  if (!(cause instanceof Error) || cause instanceof DomainError || code === '') return cause
  const state = 'errno' in cause ? String(cause.errno) : ''
  const [, found] =
    Object.entries(WORDS).find(([sign]) => [state, code].some((text) => text.match(sign))) ?? []
  const said = cause.message.replace(/\.?$/, '.')
  const words = fill(found ?? NOT_UNDERSTOOD, address)
  return conflict(`${presentDatabaseAddress(address)}: ${words} (${said}) Nothing was imported.`)
}

function fill(words: string, { user, database, engine }: DatabaseAddress): string {
  return words
    .replace('{user}', user === null ? '' : ` ${JSON.stringify(user)}`)
    .replace('{database}', JSON.stringify(database))
    .replace('{engine}', engine === 'postgres' ? 'PostgreSQL' : 'MySQL or MariaDB')
}

const NOT_UNDERSTOOD = 'what answers there is not understood; is it a server of {engine}?'

/**
 * Explanations by pattern; the first match wins. Patterns match the SQLSTATE of PostgreSQL, the error number
 * of MySQL, or the code of Bun's client or of OpenSSL.
 */
const WORDS: Readonly<Record<string, string>> = {
  '^(28P01|28000|1045|1698)$':
    'it refuses the user{user} or the password; the password can stand in the address, in a file (--database-password-file), or in ' +
    'PGPASSWORD or MYSQL_PWD',
  '^(3D000|1049)$': 'there is no database {database}',
  '^(42501|1044|1142|1143)$': 'the user may not read its tables; give the one that the old server uses',
  '^57P03$': 'its database server is starting or stopping; try again in a moment',
  '^(57P01|57P02|1053|1927)$|_CONNECTION_CLOSED$': 'the connection was lost',
  '_CONNECTION_(REFUSED|TIMEOUT|FAILED)$':
    'nothing answers there. The old server must be stopped, but its database server must run, and be reachable from here',
  // AUTHENTICATION_FAILED: MySQL's handshake ends so if the server has no TLS.
  '_(TLS_NOT_AVAILABLE|AUTHENTICATION_FAILED)$':
    'the handshake failed; perhaps it does not speak TLS, which the address asks for',
  _PUBLIC_KEY_RETRIEVAL_NOT_ALLOWED$:
    'it wants the password encrypted, and offers no TLS; connect over TLS, a socket or the loopback address',
  'CERT|CRL|SIGNATURE|ALTNAME|HOSTNAME|ISSUER':
    'its certificate is not trusted; name its authority with sslrootcert (PostgreSQL) or sslca (MySQL) in the address',
  _ERROR$: 'it cannot be read',
}
