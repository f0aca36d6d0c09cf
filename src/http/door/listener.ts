// The sockets of the server: which addresses `--host` stands for, all of them on one port, and how they end.

import { isIP } from 'node:net'
import { DomainError } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'
import type { Secure } from './security-headers.ts'
import type { Handle } from './server.ts'
import type { Shed } from './shed.ts'

/** No body is too large for the socket: every route reads with a limit of its own. */
const ANY_BODY_SIZE = Number.MAX_SAFE_INTEGER
const IDLE_SECONDS = 30
const GRACE_MS = 10_000
/** A port that is free on one address is hardly ever taken on the other. */
const FREE_PORT_TRIES = 20

/** One address to listen on. */
export type Binding = {
  address: string
  /** For ::1, which machines without IPv6 do not have. */
  mayBeMissing?: true
}

/** What the machine says of its network. */
export type Network = {
  /** All addresses of a name, from the system's resolver; rejects when there are none. */
  lookUp: (name: string) => Promise<readonly string[]>
  /** The addresses of this machine, loopback included; throws when the system does not tell. */
  listAddresses: () => readonly string[]
}

const LOOPBACK_4 = '127.0.0.1'
const LOOPBACK_6 = '::1'

/**
 * The addresses that `--host` stands for. `localhost` is both loopback addresses, because programs try either; so
 * 0.0.0.0 includes ::1 as well (:: includes all of IPv4). Throws `conflict` for a name that is unknown.
 */
export async function bindingsOf(host: string, lookUp: Network['lookUp']): Promise<Binding[]> {
  const loopback6: Binding = { address: LOOPBACK_6, mayBeMissing: true }
  if (host.toLowerCase() === 'localhost') return [{ address: LOOPBACK_4 }, loopback6]
  if (host === '0.0.0.0') return [{ address: host }, loopback6]
  if (isIP(host) !== 0) return [{ address: host }]
  const found = await lookUp(host).catch((cause) => {
    throw unknownName(host, cause)
  })
  // A link-local address means nothing without the name of its network.
  const addresses = [...new Set(found)].filter((address) => !/^fe80:/i.test(address))
  if (addresses.length === 0) throw unknownName(host, undefined)
  return addresses.map((address) => ({ address }))
}

function unknownName(host: string, cause: unknown): DomainError {
  const code = codeOf(cause)
  const remedy = 'choose an address of this machine for --host, such as 127.0.0.1 or 0.0.0.0.'
  return new DomainError('conflict', `The name ${host} has no address here${code && ` (${code})`}: ${remedy}`)
}

export type Listener = {
  /** Those that this process holds. */
  addresses: string[]
  port: number
  stop(): Promise<void>
}

export type ListenOptions = {
  handle: Handle
  shed: Shed
  secure: Secure
  bindings: readonly Binding[]
  /** 0 finds a port that is free on every address. */
  port: number
  listAddresses: Network['listAddresses']
}

type Socket = ReturnType<typeof serve>

/** All bindings or none. Throws what the system says, with the `address` that cannot be had. */
export function listen(options: ListenOptions): Listener {
  const sockets = bindAll(options)
  const addresses = sockets.map(({ hostname }) => hostname ?? '')
  const stop = async () => {
    await Promise.all(sockets.map(stopGently))
  }
  return { addresses, port: sockets[0]?.port ?? options.port, stop }
}

function bindAll(options: ListenOptions): Socket[] {
  for (let tries = 1; ; tries += 1) {
    try {
      return bindOnce(options)
    } catch (cause) {
      const mayRetry = options.port === 0 && codeOf(cause) === 'EADDRINUSE' && tries < FREE_PORT_TRIES
      if (!mayRetry) throw cause
    }
  }
}

function bindOnce(options: ListenOptions): Socket[] {
  const sockets: Socket[] = []
  for (const { address, mayBeMissing } of options.bindings) {
    try {
      sockets.push(serve(options, address, sockets[0]?.port ?? options.port))
    } catch (cause) {
      if (mayBeMissing && isMissing(address, cause, options.listAddresses)) continue
      // Nothing was answered in between: that takes a turn of the event loop.
      for (const socket of sockets) void socket.stop(true)
      throw Object.assign(new Error(`cannot listen on ${address}`, { cause }), {
        code: codeOf(cause),
        syscall: 'listen',
        address,
      })
    }
  }
  return sockets
}

/** An address that exists and is only forbidden to this process can be taken by another one. */
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

function serve({ handle, shed, secure }: ListenOptions, hostname: string, port: number) {
  return Bun.serve({
    hostname,
    port,
    reusePort: false,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: ANY_BODY_SIZE,
    development: false,
    fetch: (request, socket) => {
      // By itself the server ends a connection that brings less than 16 KiB/s.
      const stayOpen = () => socket.timeout(request, IDLE_SECONDS)
      const refusal = shed(request)
      if (refusal === null) return handle(request, socket.requestIP(request)?.address ?? '', stayOpen)
      secure(refusal.headers)
      return refusal
    },
  })
}

/** Running requests may finish; what has not after a while is cut off in a way clients notice. */
async function stopGently(socket: Socket): Promise<void> {
  const grace = setTimeout(() => void socket.stop(true), GRACE_MS)
  await socket.stop()
  clearTimeout(grace)
}

export type ServerUrls = {
  /** What this server listens on. */
  url: string
  /** What opens it on this machine: an address that this process holds, whoever else listens here. */
  hereUrl: string
}

/** `host` is what the operator asked for. It says `localhost` only where both of its addresses are held. */
export function urlsOf({ addresses, port }: Pick<Listener, 'addresses' | 'port'>, host: string): ServerUrls {
  const has = (...wanted: string[]) => addresses.some((address) => wanted.includes(address))
  const isLocalhost = has('::') || (has(LOOPBACK_4, '0.0.0.0') && has(LOOPBACK_6))
  const isEverywhere = has('0.0.0.0', '::')
  const isName = isIP(host) === 0 && host.toLowerCase() !== 'localhost'
  const own = isName ? host : (addresses[0] ?? '')
  const here = isLocalhost ? 'localhost' : isEverywhere ? LOOPBACK_4 : own
  const urlTo = (name: string) => `http://${name.includes(':') ? `[${name}]` : name}:${port}`
  return { url: urlTo(isEverywhere ? own : here), hereUrl: urlTo(here) }
}
