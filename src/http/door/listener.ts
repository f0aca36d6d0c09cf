// The sockets of the server: binds every address of `--host` to one port, answers there, and closes them.

import { isIP } from 'node:net'
import { DomainError } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'
import { answerText } from '../answers.ts'
import { UNIX_PEER } from './client-address.ts'
import { createListeningSocket, type Gate, type Socket } from './listening-socket.ts'
import type { Handle } from './server.ts'
import type { Shed } from './shed.ts'
import { isUnixHost, openToGroup, removeSocket, socketPath } from './unix-socket.ts'

/** No limit on the socket, because every route limits the body that it reads. */
const ANY_BODY_SIZE = Number.MAX_SAFE_INTEGER
/** Attempts to find a port that is free on every address. */
const FREE_PORT_TRIES = 20
const IDLE_SECONDS = 30

/** One address to listen on. */
export type Binding = {
  address: string
  /** Skips the address if the machine does not have it, such as ::1 without IPv6. */
  mayBeMissing?: true
}

/** The resolver and the interfaces of this machine. */
export type Network = {
  /** Resolves to all addresses of a name, by the system's resolver. Rejects for an unknown name. */
  lookUp: (name: string) => Promise<readonly string[]>
  /** Returns the addresses of this machine, loopback included. Throws if the system call fails. */
  listAddresses: () => readonly string[]
  /** Returns the machine's name, perhaps with its domain. */
  hostName: () => string
}

export const LOOPBACK_4 = '127.0.0.1'
export const LOOPBACK_6 = '::1'

/**
 * Resolves to the addresses that `--host` means. `localhost` means both loopback addresses, because programs
 * try either, and so 0.0.0.0 includes ::1 as well (:: includes all of IPv4). Throws `conflict` for an unknown
 * name.
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
  // Skip link-local addresses: they need the name of their interface, which the resolver does not return.
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

/** A private key and its certificate with the chain, both in PEM. */
type PemKeyPair = { certificate: string; key: string }

export type ListenOptions = {
  handle: Handle
  shed: Shed
  /** Whether the server is about to stop, so that each answer ends its connection. */
  isLeaving: () => boolean
  bindings: readonly Binding[]
  /** 0 chooses a port that is free on every address. */
  port: number
  /** The certificate and its key; null for plain HTTP. */
  tls: PemKeyPair | null
  listAddresses: Network['listAddresses']
  /** How many concurrent requests are served; later ones get 503. No limit if absent. */
  maxRequests?: number
  /** The flag that names the port, for errors; by default that of the main listener. */
  flag?: string
}

type ListeningSocket = ReturnType<typeof createListeningSocket<PemKeyPair | null>>

/** Listens on all bindings or on none. Throws the system's error, with the `address` that failed. */
export function listen(options: ListenOptions) {
  const sockets = bindAll(options)
  /** The addresses that this process listens on. */
  const addresses = sockets.map(
    ({ socket }, index) => socket.hostname ?? options.bindings[index]?.address ?? '',
  )
  /** Resolves when every new connection gets the new certificate. No kept connection loses a request. */
  const renew = async (tls: PemKeyPair) => {
    await Promise.all(sockets.map((socket) => socket.renew(tls)))
  }
  const stop = async () => {
    await Promise.all(sockets.map((socket) => socket.stop()))
  }
  return { addresses, port: sockets[0]?.socket.port ?? options.port, renew, stop }
}

function bindAll(options: ListenOptions): ListeningSocket[] {
  for (let tries = 1; ; tries += 1) {
    try {
      return bindOnce(options)
    } catch (cause) {
      const mayRetry = options.port === 0 && codeOf(cause) === 'EADDRINUSE' && tries < FREE_PORT_TRIES
      if (!mayRetry) throw cause
    }
  }
}

function bindOnce(options: ListenOptions): ListeningSocket[] {
  const bound: ListeningSocket[] = []
  for (const { address, mayBeMissing } of options.bindings) {
    try {
      bound.push(bind(options, address, bound[0]?.socket.port ?? options.port))
    } catch (cause) {
      if (mayBeMissing && isMissing(address, cause, options.listAddresses)) continue
      // This loses no request: accepting one takes a turn of the event loop, and none has passed.
      for (const { socket } of bound) void socket.stop(true)
      throw Object.assign(new Error(`cannot listen on ${address}`, { cause }), {
        code: codeOf(cause),
        syscall: 'listen',
        address,
        port: options.port,
        ...(options.flag && { flag: options.flag }),
      })
    }
  }
  return bound
}

/**
 * Whether the machine lacks the address. An address that this process may not use is an error instead,
 * because another process could take it.
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

function bind(options: ListenOptions, hostname: string, port: number): ListeningSocket {
  const { tls, isLeaving } = options
  const boundPort = tls === null ? port : probePort(options, { hostname, port })
  const listening = createListeningSocket({
    certificate: tls,
    listen: (certificate, gate) => serve(options, { hostname, port: boundPort, tls: certificate, gate }),
    isLeaving,
  })
  if (!isUnixHost(hostname)) return listening
  openToGroup(hostname)
  return { ...listening, stop: () => listening.stop().finally(() => removeSocket(hostname)) }
}

/**
 * Returns the port. With `reusePort`, listening succeeds even if another program has the port; without it, as
 * in this probe, it fails.
 */
function probePort(options: ListenOptions, { hostname, port }: Pick<ServeAt, 'hostname' | 'port'>): number {
  const probe = serve(options, { hostname, port, tls: null, gate: OPEN })
  // A stopped socket has no port.
  const { port: bound = port } = probe
  void probe.stop(true)
  return bound
}

const OPEN: Pick<Gate, 'pass'> = { pass: (response) => response }

type ServeAt = { hostname: string; port: number; tls: PemKeyPair | null; gate: Pick<Gate, 'pass'> }

function serve(options: ListenOptions, { hostname, port, tls, gate }: ServeAt): Socket {
  const isUnix = isUnixHost(hostname)
  const common = {
    maxRequestBodySize: ANY_BODY_SIZE,
    development: false as const,
    fetch: createFetch(options, { isUnix, gate }),
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

/** Makes the function that a socket calls for each request. Every answer passes through the gate. */
function createFetch(
  { handle, shed, maxRequests = Number.POSITIVE_INFINITY }: ListenOptions,
  { isUnix, gate }: Pick<ServeAt, 'gate'> & { isUnix: boolean },
) {
  return (request: Request, socket: Bun.Server<undefined>): Response | Promise<Response> => {
    // Turn Bun's idle timeout off, because it would end a connection that sends less than 16 KiB/s.
    const stayOpen = () => socket.timeout(request, IDLE_SECONDS)
    if (socket.pendingRequests > maxRequests) return gate.pass(refuseCrowd())
    const refusal = shed(request)
    if (refusal !== null) return gate.pass(refusal)
    const peer = isUnix ? UNIX_PEER : (socket.requestIP(request)?.address ?? '')
    return handle(request, peer, stayOpen).then(gate.pass)
  }
}

function refuseCrowd(): Response {
  return answerText(503, 'The server is busy; try again in a moment.', {
    'retry-after': '1',
    connection: 'close',
  })
}
