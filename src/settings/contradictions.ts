// Finds settings that contradict each other.

import { isIP } from 'node:net'
import { relative } from 'node:path'
import ipaddr from 'ipaddr.js'
import { DAY } from '../domain/time.ts'
import { isLoopback } from '../text/local-names.ts'
import { splitAddress } from '../text/server-address.ts'
import { bucketProblemsIn } from './bucket.ts'
import { databaseProblemsIn } from './database.ts'
import type { Config } from './table.ts'

/** Returns a sentence for each contradiction, naming the flags. */
export function contradictionsIn(config: Config): string[] {
  const found = RULES.map((rule) => rule(config)).filter((sentence) => sentence !== false)
  return [...found, ...bucketProblemsIn(config), ...databaseProblemsIn(config)]
}

/** Whether flags were given that have no effect without --backup-dir. */
function asksForBackups(config: Config): boolean {
  const { backupEvery, backupKeep, backupRecipients } = config
  return backupEvery !== DAY || backupKeep !== 7 || backupRecipients.length > 0
}

/** Whether two listeners may collide. Only two different addresses can share a port. */
function collides(listen: string | null, { host, port }: { host: string; port: number | null }): boolean {
  const { address, port: own } = splitAddress(listen)
  if (!port || own !== port || host.startsWith('unix:')) return false
  const isApart = isIP(host) !== 0 && host !== address
  return !isApart || [host, address].some((one) => one === '0.0.0.0' || one === '::')
}

/** Whether --receive-listen collides with another port of this server. */
function hasPortOfOthers({ receiveListen, metricsListen, host, port, httpPort }: Config): boolean {
  const metrics = splitAddress(metricsListen)
  const others = [
    { host, port },
    { host, port: httpPort },
    { host: metrics.address, port: metrics.port },
  ]
  return others.some((other) => collides(receiveListen, other))
}

/**
 * Whether only programs of this machine can connect to --receive-listen, and no loopback address is declared
 * as a proxy.
 */
function hidesProxy({ receiveListen, trustedProxies }: Config): boolean {
  const { address } = splitAddress(receiveListen)
  const near = address.startsWith('127.') ? ['127.0.0.1', address] : address === '::1' ? [address] : []
  return near.length > 0 && !near.some((proxy) => isAmong(trustedProxies, proxy))
}

function isAmong(networks: readonly string[], text: string): boolean {
  const address = ipaddr.parse(text)
  return networks
    .filter((network) => network !== 'unix')
    .map((network) => (network.includes('/') ? ipaddr.parseCIDR(network) : wholeOf(ipaddr.process(network))))
    .some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
}

function wholeOf(address: ipaddr.IPv4 | ipaddr.IPv6): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function asksForProvider(config: Config): boolean {
  const { oidcClientId, oidcClientSecret, oidcCa, oidcName, oidcSignup, oidcAdminGroup } = config
  const given = [oidcClientId, oidcClientSecret, oidcCa, oidcName, oidcAdminGroup]
  return oidcSignup === 'yes' || given.some((value) => value !== null)
}

/** Whether others may send people back to this base URL. */
function isForSignIn(baseUrl: string | null): boolean {
  const url = baseUrl === null ? null : URL.parse(baseUrl)
  return url !== null && (url.protocol === 'https:' || isLoopback(url.hostname))
}

export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || !/^\.\.($|[/\\])|^[A-Z]:/i.test(way)
}

/** Requires min ≤ default ≤ max. Returns false if that holds. */
function outOfLimits(name: 'days' | 'views', values: { min: number; preset: number; max: number }) {
  const { min, preset, max } = values
  const flag = `--expire-after-${name}`
  return (
    (preset < min || preset > max) &&
    `${flag}-default is ${preset}: it must be from ${flag}-min (${min}) to ${flag}-max (${max})`
  )
}

const RULES: readonly ((config: Config) => string | false)[] = [
  ({ expireAfterDaysMin: min, expireAfterDaysDefault: preset, expireAfterDaysMax: max }) =>
    outOfLimits('days', { min, preset, max }),
  ({ expireAfterViewsMin: min, expireAfterViewsDefault: preset, expireAfterViewsMax: max }) =>
    outOfLimits('views', { min, preset, max }),
  ({ maxViewsAnonymous: most, expireAfterViewsMin: min, expireAfterViewsMax: max }) =>
    most !== null &&
    (most < min || most > max) &&
    `--max-views-anonymous is ${most}: it must be from --expire-after-views-min (${min}) to --expire-after-views-max (${max})`,
  ({ acceptDatabase, databaseUrl }) =>
    acceptDatabase &&
    databaseUrl === null &&
    '--accept-database needs --database-url: a data folder that was moved is accepted with --accept-move',
  ({ tls, tlsCert, tlsKey }) =>
    tls === 'files' &&
    (tlsCert === null || tlsKey === null) &&
    '--tls files needs both --tls-cert and --tls-key',
  ({ tls, tlsCert, tlsKey }) =>
    tls !== 'files' && (tlsCert ?? tlsKey) !== null && '--tls-cert and --tls-key need --tls files',
  ({ tls, tlsAuthorityKey }) =>
    tls !== 'auto' && tlsAuthorityKey !== null && '--tls-authority-key needs --tls auto',
  ({ tls, httpPort }) =>
    tls === 'off' &&
    httpPort !== null &&
    '--http-port needs --tls: without TLS, --port is plain http already',
  ({ port, httpPort }) => httpPort === port && port !== 0 && '--http-port must be another port than --port',
  ({ metricsListen, host, port }) =>
    collides(metricsListen, { host, port }) && '--metrics-listen must name another port than --port',
  ({ receiveListen, receiveUrl }) =>
    (receiveListen === null) !== (receiveUrl === null) &&
    '--receive-listen and --receive-url need each other: one names where recipients connect, the other how their links start',
  (config) =>
    hasPortOfOthers(config) &&
    '--receive-listen must name another port than --port, --http-port and --metrics-listen',
  (config) =>
    hidesProxy(config) &&
    '--receive-listen on loopback needs the proxy that forwards to it: declare it with --trusted-proxy, such as ' +
      '--trusted-proxy 127.0.0.1; or let recipients connect to an address of the network',
  ({ logFile, auditLog }) =>
    auditLog !== null && auditLog === logFile && '--audit-log must name another file than --log-file',
  ({ tls, baseUrl }) =>
    tls !== 'off' &&
    baseUrl?.startsWith('https:') === false &&
    '--base-url must start with https:// when --tls is on',
  ({ mdns, host }) =>
    mdns !== null &&
    isLoopback(host) &&
    '--mdns announces this server to other machines, which cannot reach it: add --host 0.0.0.0, or use --lan',
  ({ host, tls, mdns }) =>
    host.startsWith('unix:') &&
    (tls !== 'off' || mdns !== null) &&
    '--host unix: is plain http for a proxy on this machine: leave out --tls, --mdns and --lan',
  (config) =>
    config.backupDir === null &&
    asksForBackups(config) &&
    '--backup-every, --backup-keep and --backup-recipient need --backup-dir: no backups are made without it',
  ({ backupDir, dataDir }) =>
    backupDir !== null &&
    isInside(backupDir, dataDir) &&
    '--backup-dir must not be in the data folder, whose loss would take the backups with it: name another place, best on another disk',
  ({ smtpUrl, mailFrom }) =>
    (smtpUrl === null) !== (mailFrom === null) &&
    '--smtp-url and --mail-from need each other: one names the server that takes mail, the other its sender',
  ({ smtpUrl, baseUrl }) =>
    smtpUrl !== null &&
    baseUrl === null &&
    '--smtp-url needs --base-url: without it, links in mails would start with whatever Host a request names',
  ({ oidcIssuer, oidcClientId }) =>
    oidcIssuer !== null &&
    oidcClientId === null &&
    '--oidc-issuer needs --oidc-client-id: register this server at the provider (docs/sign-in.md)',
  (config) =>
    config.oidcIssuer === null &&
    asksForProvider(config) &&
    '--oidc-client-id, --oidc-client-secret, --oidc-ca, --oidc-name, --oidc-signup and --oidc-admin-group need --oidc-issuer',
  ({ oidcIssuer, baseUrl }) =>
    oidcIssuer !== null &&
    !isForSignIn(baseUrl) &&
    '--oidc-issuer needs --base-url with https://: the provider sends people back to it (http only on loopback)',
  ({ authHeader, authHeaderSecretFile, host }) =>
    authHeader !== null &&
    authHeaderSecretFile === null &&
    !host.startsWith('unix:') &&
    '--auth-header needs --host unix: or --auth-header-secret-file: otherwise any program that reaches the port could sign in as anyone',
  ({ authHeader, authHeaderSecretFile }) =>
    authHeader === null && authHeaderSecretFile !== null && '--auth-header-secret-file needs --auth-header',
  ({ passwordSignIn, oidcIssuer, authHeader }) =>
    passwordSignIn !== 'yes' &&
    oidcIssuer === null &&
    authHeader === null &&
    `--password-sign-in ${passwordSignIn} needs --oidc-issuer or --auth-header: nobody else could sign in`,
  ({ passwordSignIn, breakGlass }) =>
    passwordSignIn !== 'yes' &&
    breakGlass === null &&
    `--password-sign-in ${passwordSignIn} needs --break-glass: the account that gets in while the provider is down`,
  ({ passwordSignIn, signups }) =>
    passwordSignIn !== 'yes' &&
    signups &&
    `--signups makes accounts with passwords: leave it out with --password-sign-in ${passwordSignIn}, and use --oidc-signup yes`,
  ({ databaseUrl, backupDir }) =>
    databaseUrl !== null &&
    backupDir !== null &&
    '--backup-dir is for a database in the data folder: leave it out with --database-url, and back PostgreSQL up with pg_dump or ' +
      'point-in-time recovery (docs/beyond-one-machine.md)',
  ({ databaseUrl, acceptMove }) =>
    databaseUrl !== null &&
    acceptMove &&
    '--accept-move is for a database in the data folder: leave it out with --database-url; after a restore of PostgreSQL, run ' +
      '"oncebox expire-all"',
]
