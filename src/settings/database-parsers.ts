// Parsers for the address of PostgreSQL, which may hold a password: nothing here repeats it.

import { type DatabaseAddress, parseDatabaseAddress } from '../domain/database-address.ts'
import type { Parsed } from './parsers.ts'

const EXAMPLE = 'postgres://oncebox@db.example:5432/oncebox'

/** TLS is verified in full unless the address says otherwise. A socket of this machine needs none. */
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
    return 'must have sslmode=verify-full, verify-ca, require or disable: the others do without TLS when somebody in between wants that'
  if (tls.mode === 'disable' && (tls.ca ?? tls.cert) !== null)
    return 'must have no certificates together with sslmode=disable, which neither encrypts nor verifies anything'
  if ((tls.cert === null) !== (tls.key === null)) return 'must have both sslcert and sslkey, or neither'
  if ((searchPath ?? 'oncebox') !== 'oncebox')
    return 'must have no search_path: the tables are in the schema oncebox'
  return null
}

/** Written without `-` and `_`, as the address may hold them. */
const OPTIONS =
  'host port user password dbname socket path ssl tls sslmode sslrootcert sslca sslcert sslkey sslverify searchpath schemasearchpath'
/** Of libpq and of Rails: nobody trusts less or loses anything when they change nothing. */
const WITHOUT_EFFECT =
  'applicationname fallbackapplicationname connecttimeout clientencoding encoding options targetsessionattrs keepalives ' +
  'keepalivesidle keepalivesinterval keepalivescount tcpusertimeout pool timeout checkouttimeout reapingfrequency ' +
  'preparedstatements statementlimit'
const KNOWN = new Set(`${OPTIONS} ${WITHOUT_EFFECT}`.split(' '))

/**
 * One that is mistyped, or that libpq alone keeps (`sslcrl`, `channel_binding`), must not seem to hold. No
 * name is repeated: behind a `?` may stand a part of the password.
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

/** The address as `oncebox config` shows it: without the password, and with the TLS mode in effect. */
export function showDatabaseUrl(text: string): string {
  const parsed = databaseUrl(text)
  if ('problem' in parsed) return '(hidden)'
  const { user, database } = parsed.value
  const { place, options } = showPlace(parsed.value)
  return `postgres://${encodeURIComponent(user ?? '')}@${place}/${encodeURIComponent(database)}?${options.join('&')}`
}

/** Folders of sockets cannot stand before the database. */
function showPlace({ host, port, socket, tls }: DatabaseAddress): { place: string; options: string[] } {
  return {
    place: socket === null ? `${host.includes(':') ? `[${host}]` : host}:${port}` : '',
    options: [
      ...(socket === null ? [`sslmode=${tls.mode}`] : [`host=${socket}`, `port=${port}`]),
      ...(tls.ca === null ? [] : [`sslrootcert=${tls.ca}`]),
      ...(tls.cert === null ? [] : [`sslcert=${tls.cert}`]),
    ],
  }
}

/** Any text: blanks at its ends may belong to it. */
export function databasePassword(text: string): Parsed<string> {
  return text.includes('\0') ? { problem: 'must have no NUL' } : { value: text }
}
