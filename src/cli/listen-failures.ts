// Why a server cannot listen, and what to do about it.

import { codeOf } from '../domain/system-errors.ts'
import type { Config } from '../settings/table.ts'
import { CommandFailure } from './failures.ts'
import type { Shell } from './shell.ts'

const FIRST_FREE_PORT = 1024

/** Names cause and remedy, because Bun asks "Is port 5100 in use?" for every failure. Other errors name a folder at least. */
export function explainStart(cause: unknown, { config, shell }: { config: Config; shell: Shell }): never {
  if (!(cause instanceof Error) || !('syscall' in cause)) throw cause
  // The system names no path when a write is refused.
  if (cause.syscall === 'write' && !('path' in cause)) throw Object.assign(cause, { path: config.dataDir })
  if (cause.syscall !== 'listen') throw cause
  const address = 'address' in cause ? String(cause.address) : config.host
  const port = 'port' in cause ? Number(cause.port) : config.port
  const usual = port !== config.port && port === config.httpPort ? 'http-port' : 'port'
  const flag = 'flag' in cause ? String(cause.flag) : `--${usual}`
  const host = 'flag' in cause ? address : config.host
  const explain = EXPLANATIONS[codeOf(cause)]
  if (explain === undefined) throw cause
  throw new CommandFailure(explain({ address, port, host, flag, shell }))
}

type Refused = {
  address: string
  port: number
  /** The setting that names the address. */
  host: string
  /** The flag that names the port. */
  flag: string
  shell: Shell
}

const EXPLANATIONS: Record<string, (refused: Refused) => string> = {
  EADDRINUSE: ({ port, address, flag }) =>
    `Port ${port} on ${address} is in use: stop what uses it, or choose another ${flag}.`,
  EACCES: explainPrivilege,
  EPERM: explainPrivilege,
  EADDRNOTAVAIL: explainAddress,
  EINVAL: explainAddress,
  ENOENT: explainSocketFolder,
  ENOTDIR: explainSocketFolder,
  EAFNOSUPPORT: ({ address }) =>
    `This process may not use ${address}, which others on this machine may: allow it (AF_INET6 in a systemd unit), ` +
    'or listen on one address alone, such as --host 127.0.0.1.',
}

function explainSocketFolder({ host }: Refused): string {
  return `The folder of the socket ${host} does not exist: make it (RuntimeDirectory= in a systemd unit), or choose another --host.`
}

function explainAddress({ address, host, flag }: Refused): string {
  const other = flag === '--metrics-listen' ? flag : '--host'
  const named =
    address === host || host.toLowerCase() === 'localhost' ? address : `${host} is ${address}, which`
  return `${named} is not an address of this machine: choose another ${other}.`
}

/** On Linux, only root and programs with a capability may listen on a low port. */
function explainPrivilege({ port, address, flag, shell }: Refused): string {
  const refused = `Listening on port ${port} of ${address} is not permitted`
  const free = `choose a ${flag} from ${FIRST_FREE_PORT} on.`
  if (shell.place.platform !== 'linux' || port >= FIRST_FREE_PORT) return `${refused}: ${free}`
  return `${refused}: ports below ${FIRST_FREE_PORT} need a right. Do one of these:
  in a systemd unit: AmbientCapabilities=CAP_NET_BIND_SERVICE, the same in CapabilityBoundingSet, no PrivateUsers
  for this program, again after each upgrade: sudo setcap cap_net_bind_service=+ep ${shell.self[0] ?? 'oncebox'}
  for every program: sudo sysctl net.ipv4.ip_unprivileged_port_start=${port}
  or ${free}`
}
