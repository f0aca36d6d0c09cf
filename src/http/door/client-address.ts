// Finds the address of the client: the socket's, or the one that a trusted proxy names.

import ipaddr from 'ipaddr.js'
import { type Address, parseAddress, remember } from '../../domain/client.ts'

type Network = [Address, number]

export type Forwarded = {
  address: string
  /** Whether the socket is a trusted proxy's. */
  isTrusted: boolean
  /** The scheme that the client used, according to a trusted proxy; null if no trusted proxy names one. */
  scheme: 'http' | 'https' | null
  host: string | null
}

/** Headers that show that a proxy forwards a request. */
const HINTS = ['forwarded', 'via', 'x-real-ip', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']

/** Whether anything hints at a proxy, trusted or not. */
export function isForwarded(headers: Headers): boolean {
  return HINTS.some((name) => headers.has(name))
}

/** The peer address of every connection to a Unix socket. */
export const UNIX_PEER = 'unix'

/**
 * The other end of a connection. `loopbackKind`: ipv4 or ipv6 on loopback, unix on a Unix socket, else null.
 */
type Peer = Pick<Forwarded, 'address'> & { loopbackKind: string | null }

export type ReadForwarded = (peer: string, headers: Headers) => Forwarded

/**
 * Trusts forwarding headers from `trustedProxies` (networks or addresses) alone. Calls `onUndeclaredProxy`
 * once per address, with a warning for the operator, when another program of this machine forwards requests.
 */
export function createForwarding(
  trustedProxies: readonly string[],
  onUndeclaredProxy: (warning: string) => void,
) {
  const networks = trustedProxies.filter((proxy) => proxy !== UNIX_PEER).map(parseNetwork)
  const isTrusted = (address: Address) => ipaddr.subnetMatch(address, { trusted: networks }, '') === 'trusted'
  /**
   * The forwarding headers of undeclared proxies, by kind of loopback address. Kept per kind, because a proxy
   * that forwards to `localhost` may use either address.
   */
  const undeclared = new Map<string, string>()
  const readSocket = remember((peer: string) => {
    const address = parseAddress(peer)
    const isUnix = peer === UNIX_PEER
    const loopbackKind = isUnix ? UNIX_PEER : address?.range() === 'loopback' ? address.kind() : null
    return {
      loopbackKind,
      address: address?.toString() ?? peer,
      isTrusted: isUnix ? trustedProxies.includes(UNIX_PEER) : address !== null && isTrusted(address),
      ...{ scheme: null, host: null },
    }
  })

  /**
   * Warns of an undeclared proxy. Checks loopback peers only, since any other sender may forge the header.
   */
  function lookForProxy({ address, loopbackKind }: Peer, headers: Headers): void {
    if (loopbackKind === null || undeclared.has(loopbackKind) || !headers.has('x-forwarded-for')) return
    undeclared.set(loopbackKind, address)
    if (undeclared.size > 1) return
    onUndeclaredProxy(
      `A reverse proxy at ${address} forwards requests and is not trusted: everybody behind it counts as one client. ` +
        `Start with --trusted-proxy ${address} as well.`,
    )
  }

  const read: ReadForwarded = (peer, headers) => {
    const socket = readSocket(peer)
    if (!socket.isTrusted) {
      lookForProxy(socket, headers)
      return socket
    }
    const scheme = lastOf(headers.get('x-forwarded-proto'))?.toLowerCase()
    return {
      address: walkBack(socket.address, headers.get('x-forwarded-for'), isTrusted),
      isTrusted: true,
      scheme: scheme === 'https' || scheme === 'http' ? scheme : null,
      host: lastOf(headers.get('x-forwarded-host')),
    }
  }

  /** Returns the addresses that the operator should declare with --trusted-proxy. */
  const listUndeclaredProxies = () => [...undeclared.values()]

  return { read, listUndeclaredProxies }
}

/** Walks the hops from the nearest outwards. The first address that is not a trusted proxy is the client. */
function walkBack(
  socket: string,
  forwardedFor: string | null,
  isTrusted: (address: Address) => boolean,
): string {
  let client = socket
  for (const hop of (forwardedFor ?? '').split(',').reverse()) {
    const address = parseAddress(withoutPort(hop.trim()))
    if (address === null) break
    client = address.toString()
    if (!isTrusted(address)) break
  }
  return client
}

/** Removes the port, which some proxies add: 192.0.2.7:50112, [2001:db8::7]:50112. */
function withoutPort(hop: string): string {
  const match = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(hop)
  return match?.[1] ?? match?.[2] ?? hop
}

function parseNetwork(text: string): Network {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function lastOf(list: string | null): string | null {
  return list?.split(',').at(-1)?.trim() || null
}
