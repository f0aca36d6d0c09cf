// The sockets of the server: binds every address of `--host` to one port, and closes them.

import { isIP } from 'node:net'
import { DomainError } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'
import {
  createFetch,
  createListeningSocket,
  type Ending,
  IDLE_SECONDS,
  type Socket,
} from './listening-socket.ts'
import { listReachable } from './reachable.ts'
import type { Handle } from './server.ts'
import type { Shed } from './shed.ts'
import { isUnixHost, openToGroup, removeSocket, socketPath } from './unix-socket.ts'

/** The socket sets no limit: every route limits the body that it reads. */
const ANY_BODY_SIZE = Number.MAX_SAFE_INTEGER
/** How often to look for a port that is free on every address. */
const FREE_PORT_TRIES = 20

/** One address to listen on. */
export type Binding = {
  address: string
  /** Skips the address if the machine does not have it, such as ::1 without IPv6. */
  mayBeMissing?: true
}

/** The resolver and the interfaces of this machine. */
export type Network = {
  /** All addresses of a name, from the system's resolver; rejects for an unknown name. */
  lookUp: (name: string) => Promise<readonly string[]>
  /** The addresses of this machine, loopback included; throws when the system call fails. */
  listAddresses: () => readonly string[]
  /** The machine's name, perhaps with its domain. */
  hostName: () => string
}

const LOOPBACK_4 = '127.0.0.1'
const LOOPBACK_6 = '::1'

/**
 * The addresses that `--host` stands for. `localhost` is both loopback addresses, because programs try
 * either; so
 * 0.0.0.0 includes ::1 as well (:: includes all of IPv4). Throws `conflict` for a name that is unknown.
 */
export async function bindingsOf(host: string, lookUp: Network['lookUp']): Promise<Binding[]> {
  const loopback6: Binding = { address: LOOPBACK_6, mayBeMissing: true }
  if (isUnixHost(host)) return [{ address: host }]
  if (host.toLowerCase() === 'localhost') return [{ address: LOOPBACK_4 }, loopback6]
  if (host === '0.0.0.0') return [{ address: host }, loopback6]
  if (isIP(host) !== 0) return [{ address: host }]
  const found = await lookUp(host).catch((cause) => {
    throw unknownName(host, cause)
  })
  // A link-local address needs the name of its interface, which the resolver does not give.
  const addresses = [...new Set(found)].filter((address) => !/^fe80:/i.test(address))
  if (addresses.length === 0) throw unknownName(host, undefined)
  return addresses.map((address) => ({ address }))
}

function unknownName(host: string, cause: unknown): DomainError {
  const code = codeOf(cause)
  const remedy = 'choose an address of this machine for --host, such as 127.0.0.1 or 0.0.0.0.'
  return new DomainError('conflict', `The name ${host} has no address here${code && ` (${code})`}: ${remedy}`)
}

export type Listener = ReturnType<typeof listen>

/** Both in PEM; the certificate with its chain. */
export type TlsKeyPair = { certificate: string; key: string }

export type ListenOptions = {
  handle: Handle
  shed: Shed
  /** Whether the server is about to stop: its answers then end their connections. */
  isLeaving: () => boolean
  bindings: readonly Binding[]
  /** 0 chooses a port that is free on every address. */
  port: number
  /** Null for plain http. */
  tls: TlsKeyPair | null
  listAddresses: Network['listAddresses']
}

type Place = ReturnType<typeof createListeningSocket<TlsKeyPair | null>>

/** Listens on all bindings or on none. Throws the error of the system, with the `address` that failed. */
export function listen(options: ListenOptions) {
  const places = bindAll(options)
  /** Those that this process listens on. */
  const addresses = places.map(
    ({ socket }, index) => socket.hostname ?? options.bindings[index]?.address ?? '',
  )
  /** Resolves when every new connection gets the other certificate. Kept connections lose no request. */
  const renew = async (tls: TlsKeyPair) => {
    await Promise.all(places.map((place) => place.renew(tls)))
  }
  const stop = async () => {
    await Promise.all(places.map((place) => place.stop()))
  }
  return { addresses, port: places[0]?.socket.port ?? options.port, renew, stop }
}

function bindAll(options: ListenOptions): Place[] {
  for (let tries = 1; ; tries += 1) {
    try {
      return bindOnce(options)
    } catch (cause) {
      const mayRetry = options.port === 0 && codeOf(cause) === 'EADDRINUSE' && tries < FREE_PORT_TRIES
      if (!mayRetry) throw cause
    }
  }
}

function bindOnce(options: ListenOptions): Place[] {
  const places: Place[] = []
  for (const { address, mayBeMissing } of options.bindings) {
    try {
      places.push(openPlace(options, address, places[0]?.socket.port ?? options.port))
    } catch (cause) {
      if (mayBeMissing && isMissing(address, cause, options.listAddresses)) continue
      // No request was lost: accepting one takes a turn of the event loop, and none has passed.
      for (const { socket } of places) void socket.stop(true)
      throw Object.assign(new Error(`cannot listen on ${address}`, { cause }), {
        code: codeOf(cause),
        syscall: 'listen',
        address,
        port: options.port,
      })
    }
  }
  return places
}

/**
 * Whether the machine lacks the address. An address that exists but is forbidden to this process is an error:
 * another process could take it.
 */
function isMissing(address: string, cause: unknown, listAddresses: Network['listAddresses']): boolean {
  const code = codeOf(cause)
  if (code === 'EADDRNOTAVAIL') return true
  if (code !== 'EAFNOSUPPORT') return false
  try {
    return !listAddresses().includes(address)
  } catch {
    return false
  }
}

function openPlace(options: ListenOptions, hostname: string, port: number): Place {
  const { tls } = options
  const held = tls === null ? port : probePort(options, { hostname, port })
  const place = createListeningSocket(tls, (pair, ending) =>
    serve(options, { hostname, port: held, tls: pair, ending }),
  )
  if (!isUnixHost(hostname)) return place
  openToGroup(hostname)
  return { ...place, stop: () => place.stop().finally(() => removeSocket(hostname)) }
}

/**
 * With `reusePort`, listening succeeds even if another program has the port. This probe without it fails
 * then.
 */
function probePort(options: ListenOptions, { hostname, port }: Pick<ServeAt, 'hostname' | 'port'>): number {
  const probe = serve(options, { hostname, port, tls: null, ending: { closed: null } })
  const { port: found = port } = probe
  // It knows no port afterwards.
  void probe.stop(true)
  return found
}

type ServeAt = { hostname: string; port: number; tls: TlsKeyPair | null; ending: Ending }

function serve(options: ListenOptions, { hostname, port, tls, ending }: ServeAt): Socket {
  const isUnix = isUnixHost(hostname)
  const common = {
    maxRequestBodySize: ANY_BODY_SIZE,
    development: false as const,
    fetch: createFetch(options, { isUnix, ending }),
  }
  // A Unix socket gets no idle timeout, because its only client is a proxy, which has one.
  if (isUnix) return Bun.serve({ ...common, unix: socketPath(hostname) })
  return Bun.serve({
    ...common,
    hostname,
    port,
    reusePort: tls !== null,
    ...(tls && { tls: { cert: tls.certificate, key: tls.key } }),
    idleTimeout: IDLE_SECONDS,
  })
}

export type ServerUrls = {
  /** The URL for other machines, where the server listens for them. */
  url: string
  /**
   * The URL for this machine: of an address that this process holds, since another program may hold the
   * others.
   */
  hereUrl: string
  /**
   * The URLs under which other machines reach it, the likeliest first; none when it listens for this machine
   * alone.
   */
  elsewhere: string[]
}

type Held = Pick<Listener, 'addresses' | 'port'> & { scheme: 'http' | 'https' }

/** `host` is the setting. A URL says `localhost` only if this process holds both loopback addresses. */
export function urlsOf(
  { addresses, port, scheme }: Held,
  { host, listAddresses }: { host: string; listAddresses: Network['listAddresses'] },
): ServerUrls {
  // A proxy decides under which name it forwards to a socket.
  if (isUnixHost(host)) return { url: host, hereUrl: `${scheme}://localhost`, elsewhere: [] }
  const has = (...wanted: string[]) => addresses.some((address) => wanted.includes(address))
  const isLocalhost = has('::') || (has(LOOPBACK_4, '0.0.0.0') && has(LOOPBACK_6))
  const isEverywhere = has('0.0.0.0', '::')
  const isName = isIP(host) === 0 && host.toLowerCase() !== 'localhost'
  const own = isName ? host : (addresses[0] ?? '')
  const here = isLocalhost ? 'localhost' : isEverywhere ? LOOPBACK_4 : own
  const urlTo = (name: string) => `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}`
  const reachable = listReachable({ held: addresses, own: listOrNone(listAddresses) })
  const elsewhere =
    isName && reachable.length > 0 ? [urlTo(host)] : reachable.map((name) => `${scheme}://${name}:${port}`)
  return { url: urlTo(isEverywhere ? own : here), hereUrl: urlTo(here), elsewhere }
}

/** None where the system refuses to tell them. */
export function listOrNone(listAddresses: Network['listAddresses']): readonly string[] {
  try {
    return listAddresses()
  } catch {
    return []
  }
}
