// Finds settings that contradict each other.

import { isIP } from 'node:net'
import { relative } from 'node:path'
import { DAY } from '../domain/time.ts'
import { bucketProblemsIn } from './bucket.ts'
import { databaseProblemsIn } from './database.ts'
import type { Config } from './table.ts'

/** One sentence for each contradiction, naming the flags. Leaves out the rules about settings that could not be read. */
export function contradictionsIn(read: Partial<Config>): string[] {
  const config = onlyRead(read)
  const rules = RULES.map(
    ([isWrong, sentence]) =>
      () =>
        isWrong(config) ? [sentence] : [],
  )
  const others = [bucketProblemsIn, databaseProblemsIn, strangersToPostgres].map((rule) => () => rule(config))
  return [...rules, ...others].flatMap((rule) => {
    try {
      return rule()
    } catch (cause) {
      if (cause instanceof NotRead) return []
      throw cause
    }
  })
}

class NotRead extends Error {}

function onlyRead(read: Partial<Config>): Config {
  const get = (values: Partial<Config>, name: string) => {
    if (!(name in values)) throw new NotRead(name)
    return Reflect.get(values, name)
  }
  // A name that is not there throws, so that nobody sees a Config without it.
  return new Proxy(read, { get }) as Config
}

/** Nobody gives one of these, and believes that there are backups then. */
function asksForBackups(config: Config): boolean {
  const { backupEvery, backupKeep, backupRecipients, backupAcceptFolder } = config
  return backupEvery !== DAY || backupKeep !== 7 || backupRecipients.length > 0 || backupAcceptFolder
}

/** Two addresses may share a port; a name, or all addresses, may include the other one. */
function hasPortOfMetrics({ metricsListen, host, port }: Config): boolean {
  const [, address = '', own] = /^\[?([^\]]*)\]?:(\d+)$/.exec(metricsListen ?? '') ?? []
  if (port === 0 || Number(own) !== port || host.startsWith('unix:')) return false
  const isApart = isIP(host) !== 0 && host !== address
  return !isApart || [host, address].some((place) => place === '0.0.0.0' || place === '::')
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || !/^\.\.($|[/\\])|^[A-Z]:/i.test(way)
}

/** What belongs to a database in the data folder. */
function strangersToPostgres(config: Config): string[] {
  if (config.databaseUrl === null) return []
  return FOLDER_ONLY.flatMap(([isGiven, sentence]) => (isGiven(config) ? [sentence] : []))
}

const FOLDER_ONLY: readonly [(config: Config) => boolean, string][] = [
  [
    ({ backupDir }) => backupDir !== null,
    '--backup-dir is for a database in the data folder: leave it out with --database-url, and back PostgreSQL up with pg_dump or ' +
      'point-in-time recovery (docs/beyond-one-machine.md)',
  ],
  [
    ({ acceptMove }) => acceptMove,
    '--accept-move is for a database in the data folder: leave it out with --database-url; after a restore of PostgreSQL, run ' +
      '"oncebox expire-all"',
  ],
]

const LOOPBACK = /^(localhost|127\..*|::1)$/i

const RULES: readonly [(config: Config) => boolean, string][] = [
  [
    ({ acceptDatabase, databaseUrl }) => acceptDatabase && databaseUrl === null,
    '--accept-database needs --database-url: a data folder that was moved is accepted with --accept-move',
  ],
  [
    ({ tls, tlsCert, tlsKey }) => tls === 'files' && (tlsCert === null || tlsKey === null),
    '--tls files needs both --tls-cert and --tls-key',
  ],
  [
    ({ tls, tlsCert, tlsKey }) => tls !== 'files' && (tlsCert !== null || tlsKey !== null),
    '--tls-cert and --tls-key need --tls files',
  ],
  [
    ({ tls, tlsAuthorityKey }) => tls !== 'auto' && tlsAuthorityKey !== null,
    '--tls-authority-key needs --tls auto',
  ],
  [
    ({ tls, httpPort }) => tls === 'off' && httpPort !== null,
    '--http-port needs --tls: without TLS, --port is plain http already',
  ],
  [
    ({ port, httpPort }) => httpPort !== null && httpPort === port && port !== 0,
    '--http-port must be another port than --port',
  ],
  [hasPortOfMetrics, '--metrics-listen must name another port than --port'],
  [
    ({ tls, baseUrl }) => tls !== 'off' && baseUrl !== null && !baseUrl.startsWith('https:'),
    '--base-url must start with https:// when --tls is on',
  ],
  [
    ({ mdns, host }) => mdns !== null && LOOPBACK.test(host),
    '--mdns announces this server to other machines, which cannot reach it: add --host 0.0.0.0, or use --lan',
  ],
  [
    ({ host, tls, mdns }) => host.startsWith('unix:') && (tls !== 'off' || mdns !== null),
    '--host unix: is plain http for a proxy on this machine: leave out --tls, --mdns and --lan',
  ],
  [
    (config) => config.backupDir === null && asksForBackups(config),
    '--backup-every, --backup-keep, --backup-recipient and --backup-accept-folder need --backup-dir: no backups are made without it',
  ],
  [
    ({ backupDir, dataDir }) => backupDir !== null && isInside(backupDir, dataDir),
    '--backup-dir must not be in the data folder, whose loss would take the backups with it: name another place, best on another disk',
  ],
]
