// The address of a database server, as Rails writes it into DATABASE_URL. Pure: nothing is asked or read.

export type DatabaseEngine = 'postgres' | 'mysql'

export const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
export type TlsMode = (typeof TLS_MODES)[number]

/** `ca`, `cert` and `key` are paths of PEM files. */
export type DatabaseTls = { mode: TlsMode; ca: string | null; cert: string | null; key: string | null }

/** Where a server listens. */
export type DatabasePlace = {
  /** A name or address; '' where a socket is meant. */
  host: string
  port: number
  /** The path of a Unix socket or, for PostgreSQL, of its folder. */
  socket: string | null
}

export type DatabaseAddress = DatabasePlace & {
  engine: DatabaseEngine
  /** PostgreSQL: more servers that may hold the database, in the order in which they are tried. */
  others: readonly DatabasePlace[]
  /** PostgreSQL: which of the servers is wanted, in the words of libpq; null: the address does not say. */
  targetSessionAttrs: string | null
  /** Null: the one of the system. */
  user: string | null
  password: string | null
  database: string
  tls: DatabaseTls
  /** PostgreSQL: the schemas in which tables are looked up; null: the user's own. */
  searchPath: string | null
  /** PostgreSQL: what the address says of the server's `full_page_writes`; null: nothing. */
  fullPageWrites: string | null
}

const ENGINES: Record<string, DatabaseEngine> = {
  postgres: 'postgres',
  postgresql: 'postgres',
  postgis: 'postgres',
  mysql: 'mysql',
  mysql2: 'mysql',
  mariadb: 'mysql',
  trilogy: 'mysql',
}
const PORTS = { postgres: 5432, mysql: 3306 } as const
/** Where Debian's servers listen. */
const SOCKETS = { postgres: '/var/run/postgresql', mysql: '/run/mysqld/mysqld.sock' } as const

const FILES = new Set(['file', 'sqlite', 'sqlite3'])
const SCHEME = /^([a-z][a-z0-9+]*):\/\//i
/** A password may hold any character but `?`, escaped or not: its end is the last `@` before the query. */
const ADDRESS = /^[a-z][a-z0-9+]*:\/\/(?:([^?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/i
const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[^:[\]]*)(?::(\d{0,5}))?$/i

/** Null when the text is a path. `defaultMode` is the TLS mode of an address without one. */
export function parseDatabaseAddress(
  text: string,
  defaultMode: TlsMode = 'prefer',
): { problem: string } | DatabaseAddress | null {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined || FILES.has(scheme)) return null
  const engine = Object.hasOwn(ENGINES, scheme) ? ENGINES[scheme] : undefined
  if (engine === undefined)
    return { problem: `${scheme}:// is not known: give a file, postgres:// or mysql://` }
  const parts = ADDRESS.exec(text)
  const [, login = '', servers = '', path = '', query = ''] = parts ?? []
  const listed = listOf(servers)
  if (parts === null || listed === null)
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
  const places = placesOf({ engine, options, ...listed })
  if ('problem' in places) return places
  const [first, ...others] = places
  return {
    engine,
    ...first,
    others,
    ...loginOf(login, options),
    database,
    tls,
    searchPath: searchPathOf(options),
    targetSessionAttrs: options.targetsessionattrs ?? null,
    fullPageWrites: options.fullpagewrites ?? null,
  }
}

/** The path, also where it is written as Rails writes it: `sqlite3:db/x.sqlite3`, `sqlite3:///db/x.sqlite3`. */
export function pathOfSqlite(text: string): string {
  return /^sqlite3?:(?:\/\/)?([^?]+)/i.exec(text)?.[1] ?? text
}

/** What messages call it. */
export function presentDatabaseAddress(address: DatabaseAddress): string {
  const { engine, socket, others, database } = address
  if (socket !== null && others.length === 0) return `${engine}://${database} at ${socket}`
  return `${engine}://${[address, ...others].map(presentPlace).join(',')}/${database}`
}

/** What messages call one of several servers. */
export function presentPlace({ host, port, socket }: DatabasePlace): string {
  if (socket !== null) return `${socket}:${port}`
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The address of each server alone, in the order in which they are tried. */
export function singleAddressesOf(address: DatabaseAddress): DatabaseAddress[] {
  const { host, port, socket } = address
  return [{ host, port, socket }, ...address.others].map((place) => ({
    ...address,
    ...place,
    others: [],
    // A socket of this machine needs none.
    tls: place.socket === null ? address.tls : { ...address.tls, mode: 'disable' },
  }))
}

/** As Rails names it, as PostgreSQL does, or within the options for the server as libpq passes them on. */
function searchPathOf(options: Record<string, string>): string | null {
  const inOptions = /(?:^|\s)-c\s*search_path=(\S+)/.exec(options.options ?? '')?.[1]
  return options.schemasearchpath ?? options.searchpath ?? inOptions ?? null
}

/** The names as PostgreSQL, MySQL and Ruby's mysql2 write them: with `-`, with `_` and without. */
function optionsOf(query: string): Record<string, string> {
  // A plus is a blank in forms only.
  const pairs = [...new URLSearchParams(query.replaceAll('+', '%2B'))]
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase().replace(/[-_]/g, ''), value]))
}

function loginOf(login: string, options: Record<string, string>) {
  const at = login.indexOf(':')
  const user = options.user ?? decode(at === -1 ? login : login.slice(0, at))
  const password = options.password ?? (at === -1 ? '' : decode(login.slice(at + 1)))
  return { user: user === '' ? null : user, password: password === '' ? null : password }
}

/** What stands before the path, in pairs. A port that is not given is ''. */
type Listed = { hosts: string[]; ports: string[] }

/** Null for what is no list of hosts. */
function listOf(servers: string): Listed | null {
  const parts = servers.split(',').flatMap((server) => {
    const [, host, port = ''] = HOST_AND_PORT.exec(server) ?? []
    return host === undefined ? [] : [{ host: decode(host), port }]
  })
  if (parts.length < servers.split(',').length) return null
  return { hosts: parts.map(({ host }) => host), ports: parts.map(({ port }) => port) }
}

type Given = Listed & { engine: DatabaseEngine; options: Record<string, string> }

/** As libpq reads lists: hosts and ports in pairs, or one port for all. */
function placesOf({
  engine,
  options,
  ...listed
}: Given): { problem: string } | [DatabasePlace, ...DatabasePlace[]] {
  const hosts = options.host?.split(',') ?? listed.hosts
  const ports = options.port?.split(',') ?? listed.ports
  const socket = options.socket ?? options.path
  if (ports.length > 1 && ports.length !== hosts.length)
    return { problem: `the address names ${hosts.length} hosts and ${ports.length} ports` }
  if (hosts.length > 1 && engine !== 'postgres') return { problem: 'only PostgreSQL may have several hosts' }
  if (hosts.length > MOST_HOSTS) return { problem: `the address names more than ${MOST_HOSTS} hosts` }
  if (hosts.length > 1 && hosts.includes(''))
    return { problem: 'one of the hosts in the address has no name' }
  const [first, ...others] = hosts.map((host, index) => ({
    ...placeOf({ engine, host, socket }),
    port: Number((ports.length === 1 ? ports[0] : ports[index]) || PORTS[engine]),
  }))
  return first === undefined ? { problem: 'the address names no host' } : [first, ...others]
}

/** Each of them may have to be waited for. */
const MOST_HOSTS = 8

type Place = { engine: DatabaseEngine; host: string; socket: string | undefined }

/** As libpq and MySQL's client do: a host that begins with `/` is a folder of sockets, and none is the usual socket. */
function placeOf({ engine, host, socket }: Place): { host: string; socket: string | null } {
  if (socket !== undefined) return { host: '', socket }
  if (host === '') return { host, socket: SOCKETS[engine] }
  return host.startsWith('/')
    ? { host: '', socket: host }
    : { host: host.replace(/^\[|\]$/g, ''), socket: null }
}

/** Null for a mode that is not known. `ssl=true` makes no default weaker. A certificate authority is always asked, also where no mode says so. */
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

const OTHER_MODES: Record<string, TlsMode> = {
  disabled: 'disable',
  false: 'disable',
  allow: 'prefer',
  preferred: 'prefer',
  required: 'require',
  true: 'require',
  'verify-identity': 'verify-full',
}

function parseMode(text: string): TlsMode | undefined {
  const word = text
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^ssl-mode-/, '')
  return (
    TLS_MODES.find((mode) => mode === word) ??
    (Object.hasOwn(OTHER_MODES, word) ? OTHER_MODES[word] : undefined)
  )
}

function isOn(text: string | undefined): boolean {
  return text !== undefined && /^(1|true|on|yes)$/i.test(text)
}

/** A text with a stray `%` stands for itself. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
