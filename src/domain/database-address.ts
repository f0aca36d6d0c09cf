// Parses the address of a database server, as Rails writes it into DATABASE_URL. Pure: opens nothing.

type DatabaseEngine = 'postgres' | 'mysql'

const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type TlsMode = (typeof TLS_MODES)[number]

/** `ca`, `cert` and `key` are paths of PEM files. */
type DatabaseTls = { mode: TlsMode; ca: string | null; cert: string | null; key: string | null }

export type DatabaseAddress = {
  engine: DatabaseEngine
  /** A name or address; '' for a socket. */
  host: string
  port: number
  /** The path of a Unix socket or, for PostgreSQL, of its folder. */
  socket: string | null
  /** The user; null for the user of the operating system. */
  user: string | null
  password: string | null
  database: string
  tls: DatabaseTls
  /** The schemas in which PostgreSQL looks up tables; null for the default of the database user. */
  searchPath: string | null
}

const POSTGRES = /^(postgres(ql)?|postgis)$/
const MYSQL = /^(mysql2?|mariadb|trilogy)$/
const PORTS = { postgres: 5432, mysql: 3306 } as const
/** The sockets of Debian's servers. */
const SOCKETS = { postgres: '/var/run/postgresql', mysql: '/run/mysqld/mysqld.sock' } as const

const FILE = /^(file|sqlite3?)$/
const SCHEME = /^([a-z][a-z0-9+]*):\/\//i
/**
 * A password may contain any character but `?`, escaped or not, because it extends to the last `@` before the
 * query.
 */
const ADDRESS = /^[a-z][a-z0-9+]*:\/\/(?:([^?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/i
const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[^:[\]]*)(?::(\d{0,5}))?$/i

/**
 * Parses an address. Returns null when the text is a path. `defaultMode` is the TLS mode of an address that
 * names none.
 */
export function parseDatabaseAddress(
  text: string,
  defaultMode: TlsMode = 'prefer',
): { problem: string } | DatabaseAddress | null {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined || FILE.test(scheme)) return null
  if (!POSTGRES.test(scheme) && !MYSQL.test(scheme))
    return { problem: `${scheme}:// is not known: it must be postgres:// or mysql://` }
  const engine = MYSQL.test(scheme) ? 'mysql' : 'postgres'
  const parts = ADDRESS.exec(text)
  const [, login = '', server = '', path = '', query = ''] = parts ?? []
  if (server.includes(',')) return SEVERAL_HOSTS
  const [, listed, listedPort = ''] = HOST_AND_PORT.exec(server) ?? []
  if (parts === null || listed === undefined)
    return {
      problem: `${scheme}://… cannot be read: it must be ${scheme}://USER@HOST:PORT/DATABASE, with an IPv6 address in brackets`,
    }
  const options = optionsOf(query)
  const tls = tlsOf(options, defaultMode)
  if (tls === null) return { problem: `the TLS mode in ${scheme}://… must be one of ${TLS_MODES.join(', ')}` }
  const database = options.dbname ?? decode(path)
  if (database === '')
    return {
      problem: `${scheme}://… names no database: add its name behind the host, as in ${scheme}://USER@HOST/DATABASE`,
    }
  const host = options.host ?? decode(listed)
  const port = options.port ?? listedPort
  if (host.includes(',') || port.includes(',')) return SEVERAL_HOSTS
  return {
    engine,
    ...placeOf({ engine, host, socket: options.socket ?? options.path }),
    port: Number(port || PORTS[engine]),
    ...loginOf(login, options),
    database,
    tls,
    searchPath: searchPathOf(options),
  }
}

const SEVERAL_HOSTS = {
  problem:
    'the address names several hosts: name one, such as that of a proxy, or the name that your provider gives the database',
}

/**
 * Returns the path of an SQLite file, also from Rails' notation: `sqlite3:db/x.sqlite3`,
 * `sqlite3:///db/x.sqlite3`.
 */
export function pathOfSqlite(text: string): string {
  return /^sqlite3?:(?:\/\/)?([^?]+)/i.exec(text)?.[1] ?? text
}

/** Returns the address for messages, without the login. */
export function presentDatabaseAddress({ engine, host, port, socket, database }: DatabaseAddress): string {
  if (socket !== null) return `${engine}://${database} at ${socket}`
  return `${engine}://${host.includes(':') ? `[${host}]` : host}:${port}/${database}`
}

/** Reads the search path from Rails' option, PostgreSQL's, or the server options that libpq passes on. */
function searchPathOf(options: Record<string, string>): string | null {
  const inOptions = /(?:^|\s)-c\s*search_path=(\S+)/.exec(options.options ?? '')?.[1]
  return options.schemasearchpath ?? options.searchpath ?? inOptions ?? null
}

/** Reads the options by the names of PostgreSQL, MySQL and Ruby's mysql2: with `-`, with `_` and without. */
function optionsOf(query: string): Record<string, string> {
  // Decode a plus as a plus: it means a blank only in forms.
  const pairs = [...new URLSearchParams(query.replaceAll('+', '%2B'))]
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase().replace(/[-_]/g, ''), value]))
}

function loginOf(login: string, options: Record<string, string>) {
  const at = login.indexOf(':')
  const user = options.user ?? decode(at === -1 ? login : login.slice(0, at))
  const password = options.password ?? (at === -1 ? '' : decode(login.slice(at + 1)))
  return { user: user === '' ? null : user, password: password === '' ? null : password }
}

type Place = { engine: DatabaseEngine; host: string; socket: string | undefined }

/**
 * Follows libpq and MySQL's client: a host that begins with `/` is a folder of sockets, and no host is the
 * default socket.
 */
function placeOf({ engine, host, socket }: Place): { host: string; socket: string | null } {
  if (socket !== undefined) return { host: '', socket }
  if (host === '') return { host, socket: SOCKETS[engine] }
  return host.startsWith('/')
    ? { host: '', socket: host }
    : { host: host.replace(/^\[|\]$/g, ''), socket: null }
}

/**
 * Returns null for an unknown mode. `ssl=true` does not weaken the default. If a certificate authority is
 * given, the certificate is verified in every mode.
 */
function tlsOf(options: Record<string, string>, defaultMode: TlsMode): DatabaseTls | null {
  const authority = options.sslrootcert ?? options.sslca
  const isVerified = authority !== undefined || isOn(options.sslverify)
  const isWanted = isOn(options.ssl ?? options.tls)
  const given =
    options.sslmode ??
    (isVerified ? 'verify-full' : isWanted && defaultMode === 'prefer' ? 'require' : defaultMode)
  const mode = parseMode(given)
  if (mode === undefined) return null
  return {
    mode:
      mode === 'require' && isVerified ? 'verify-ca' : mode === 'prefer' && isVerified ? 'verify-full' : mode,
    ca: authority === undefined || authority === 'system' ? null : authority,
    cert: options.sslcert ?? null,
    key: options.sslkey ?? null,
  }
}

/** The modes by the names of PostgreSQL and MySQL. */
const MODES: Record<string, TlsMode> = {
  disable: 'disable',
  disabled: 'disable',
  allow: 'prefer',
  prefer: 'prefer',
  preferred: 'prefer',
  require: 'require',
  required: 'require',
  'verify-ca': 'verify-ca',
  'verify-full': 'verify-full',
  'verify-identity': 'verify-full',
}

function parseMode(text: string): TlsMode | undefined {
  const word = text.toLowerCase().replaceAll('_', '-').replace('ssl-mode-', '')
  return Object.hasOwn(MODES, word) ? MODES[word] : undefined
}

function isOn(text: string | undefined): boolean {
  return text !== undefined && /^(1|true|on|yes)$/i.test(text)
}

/** Decodes percent-escapes. Returns a text with a stray `%` unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
