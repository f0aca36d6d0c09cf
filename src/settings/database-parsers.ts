// Parsers for the address of PostgreSQL, which may hold a password: nothing here repeats it.

import { type DatabaseAddress, parseDatabaseAddress } from '../domain/database-address.ts'
import type { Parsed } from './parsers.ts'

const EXAMPLE = 'postgres://oncebox@db.example:5432/oncebox'

const SERVER = /^(postgres|postgresql|postgis|mysql2?|mariadb|trilogy):/i

/** TLS is verified in full unless the address says otherwise. A socket of this machine needs none. */
export function databaseUrl(text: string): Parsed<DatabaseAddress> {
  const parsed = SERVER.test(text.trim()) ? parseDatabaseAddress(text.trim(), 'verify-full') : null
  if (parsed === null) return wrong(`must be such as ${EXAMPLE}`)
  if ('problem' in parsed) return wrong(`must be such as ${EXAMPLE}: ${parsed.problem}`)
  const problem = problemOf(parsed)
  if (problem !== null) return wrong(problem)
  const { socket, tls } = parsed
  return { value: socket === null ? parsed : { ...parsed, tls: { ...tls, mode: 'disable' } } }
}

function problemOf(address: DatabaseAddress): string | null {
  const { engine, user, host, socket, database, port, password, searchPath, tls } = address
  if (engine !== 'postgres')
    return `must be of PostgreSQL, such as ${EXAMPLE}: MySQL and MariaDB are for imports only`
  if (user === null) return `must name the user, such as ${EXAMPLE}`
  if (port < 1 || port > 65_535 || !Number.isInteger(port)) return 'must have a port from 1 to 65535'
  if ([user, host, socket, database].some((text) => text?.includes('\0'))) return 'must have no NUL'
  if (password?.includes('\0')) return 'must have a password without NUL'
  if ((tls.cert === null) !== (tls.key === null)) return 'must have both sslcert and sslkey, or neither'
  if ((searchPath ?? 'oncebox') !== 'oncebox')
    return 'must have no search_path: the tables are in the schema oncebox'
  return null
}

function wrong(problem: string): Parsed<never> {
  return { problem, isSecret: true }
}

/** The address as `oncebox config` shows it: without the password, and with the TLS mode in effect. */
export function showDatabaseUrl(text: string): string {
  const parsed = databaseUrl(text)
  if ('problem' in parsed) return '(hidden)'
  const { user, host, port, socket, database, tls } = parsed.value
  const place = socket === null ? `${host.includes(':') ? `[${host}]` : host}:${port}` : ''
  const options = [
    ...(socket === null ? [] : [`host=${socket}`, `port=${port}`]),
    ...(socket === null ? [`sslmode=${tls.mode}`] : []),
    ...(tls.ca === null ? [] : [`sslrootcert=${tls.ca}`]),
    ...(tls.cert === null ? [] : [`sslcert=${tls.cert}`]),
  ]
  return `postgres://${encodeURIComponent(user ?? '')}@${place}/${encodeURIComponent(database)}?${options.join('&')}`
}

/** Any text: blanks at its ends may belong to it. */
export function databasePassword(text: string): Parsed<string> {
  return text.includes('\0') ? { problem: 'must have no NUL' } : { value: text }
}
