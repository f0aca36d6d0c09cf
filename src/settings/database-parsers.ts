// Parsers for the address of PostgreSQL. It may contain a password, so no message repeats it.

import { type DatabaseAddress, parseDatabaseAddress } from '../domain/database-address.ts'
import type { Parsed } from './parsers.ts'

const EXAMPLE = 'postgres://oncebox@db.example:5432/oncebox'

/** Defaults to sslmode=verify-full. Disables TLS for a Unix socket, which needs none. */
export function databaseUrl(text: string): Parsed<DatabaseAddress> {
  const parsed = parseDatabaseAddress(text.trim(), 'verify-full')
  if (parsed === null) return wrong(`must be such as ${EXAMPLE}`)
  if ('problem' in parsed) return wrong(`must be such as ${EXAMPLE}: ${parsed.problem}`)
  const problem = problemOf(parsed) ?? problemOfNames(text)
  if (problem !== null) return wrong(problem)
  const { tls } = parsed
  return { value: parsed.socket === null ? parsed : { ...parsed, tls: { ...tls, mode: 'disable' } } }
}

function problemOf(address: DatabaseAddress): string | null {
  const { engine, user, database, password, searchPath, tls, host, port, socket } = address
  if (engine !== 'postgres')
    return `must be of PostgreSQL, such as ${EXAMPLE}: MySQL and MariaDB are for imports only`
  if (user === null) return `must name the user, such as ${EXAMPLE}`
  if (port < 1 || port > 65_535 || !Number.isInteger(port)) return 'must have a port from 1 to 65535'
  const texts = [user, database, host, socket]
  if (texts.some((text) => text?.includes('\0'))) return 'must have no NUL'
  if (password?.includes('\0')) return 'must have a password without NUL'
  if (tls.mode === 'prefer')
    return 'must have sslmode=verify-full, verify-ca, require or disable: an attacker in between can make the others skip TLS'
  if (tls.mode === 'disable' && (tls.ca ?? tls.cert) !== null)
    return 'must have no certificates together with sslmode=disable, which neither encrypts nor verifies anything'
  if ((tls.cert === null) !== (tls.key === null)) return 'must have both sslcert and sslkey, or neither'
  if ((searchPath ?? 'oncebox') !== 'oncebox')
    return 'must have no search_path: the tables are in the schema oncebox'
  return null
}

/** Names of options, normalized: without `-` and `_`. */
const OPTIONS =
  'host port user password dbname socket path ssl tls sslmode sslrootcert sslca sslcert sslkey sslverify searchpath schemasearchpath'
/** Options of libpq and Rails that are safe to ignore: no security or data depends on them. */
const WITHOUT_EFFECT =
  'applicationname fallbackapplicationname connecttimeout clientencoding encoding options targetsessionattrs keepalives ' +
  'keepalivesidle keepalivesinterval keepalivescount tcpusertimeout pool timeout checkouttimeout reapingfrequency ' +
  'preparedstatements statementlimit'
const KNOWN = new Set(`${OPTIONS} ${WITHOUT_EFFECT}`.split(' '))

/**
 * Refuses unknown options, so that one that is mistyped, or that only libpq supports (`sslcrl`,
 * `channel_binding`), does not seem to be in effect. Quotes no name, because the text after a `?` may be part
 * of the password.
 */
function problemOfNames(text: string): string | null {
  const names = [...new URLSearchParams(text.split('?').slice(1).join('?')).keys()].map((name) =>
    name.toLowerCase().replace(/[-_]/g, ''),
  )
  return names.every((name) => KNOWN.has(name))
    ? null
    : 'must have no options but sslmode, sslrootcert, sslcert, sslkey, host and port, and a ? within the password written as %3F'
}

function wrong(problem: string): Parsed<never> {
  return { problem, isSecret: true }
}

/** Formats the address for `oncebox config`: without the password, and with the TLS mode in effect. */
export function showDatabaseUrl(text: string): string {
  const parsed = databaseUrl(text)
  if ('problem' in parsed) return '(hidden)'
  const { user, database } = parsed.value
  const { authority, options } = showAuthority(parsed.value)
  return `postgres://${encodeURIComponent(user ?? '')}@${authority}/${encodeURIComponent(database)}?${options.join('&')}`
}

/** Puts the folder of a Unix socket into the options, because it cannot be the host of a URL. */
function showAuthority({ host, port, socket, tls }: DatabaseAddress) {
  return {
    authority: socket === null ? `${host.includes(':') ? `[${host}]` : host}:${port}` : '',
    options: [
      ...(socket === null ? [`sslmode=${tls.mode}`] : [`host=${socket}`, `port=${port}`]),
      ...(tls.ca === null ? [] : [`sslrootcert=${tls.ca}`]),
      ...(tls.cert === null ? [] : [`sslcert=${tls.cert}`]),
    ],
  }
}

/** Accepts any text without NUL. Blanks at its ends may belong to the password. */
export function databasePassword(text: string): Parsed<string> {
  return text.includes('\0') ? { problem: 'must have no NUL' } : { value: text }
}
