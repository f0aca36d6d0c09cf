// Finds the address of the client: the socket's, or the one that a trusted proxy names.

import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = [Address, number]

export type Forwarded = {
  address: string
  /** Whether the socket is a trusted proxy's. */
  isTrusted: boolean
  /** The scheme that the trusted proxy was asked with; null when no trusted proxy names one. */
  scheme: 'http' | 'https' | null
  host: string | null
}

/** The peer address of every connection to a Unix socket. */
export const UNIX_PEER = 'unix'

/** The other end of a connection; `loopbackKind` is ipv4 or ipv6 on loopback, unix on a Unix socket, null elsewhere. */
type Peer = { text: string; loopbackKind: string | null }

export type ReadForwarded = (peer: string, headers: Headers) => Forwarded

/**
 * Believes forwarding headers from `trustedProxies` (networks or addresses) alone. Calls `onUndeclaredProxy` once, with a
 * warning for the operator, when a program of this machine forwards requests and is not one of them.
 */
export function createForwarding(
  trustedProxies: readonly string[],
  onUndeclaredProxy: (warning: string) => void,
) {
  const networks = trustedProxies.filter((proxy) => proxy !== UNIX_PEER).map(parseNetwork)
  const isTrusted = (address: Address) => networks.some((network) => contains(network, address))
  /** At most one address of each kind: a proxy that forwards to `localhost` may use either. */
  const undeclared = new Map<string, string>()
  const readSocket = remember((peer: string) => {
    const address = parseAddress(peer)
    const isUnix = peer === UNIX_PEER
    const loopbackKind = isUnix ? UNIX_PEER : address?.range() === 'loopback' ? address.kind() : null
    return {
      address,
      loopbackKind,
      text: address?.toString() ?? peer,
      isTrusted: isUnix ? trustedProxies.includes(UNIX_PEER) : address !== null && isTrusted(address),
    }
  })

  /** Checks loopback peers only: any other sender may forge the header. */
  function lookForProxy({ text, loopbackKind }: Peer, headers: Headers): void {
    if (loopbackKind === null || undeclared.has(loopbackKind) || !headers.has('x-forwarded-for')) return
    undeclared.set(loopbackKind, text)
    if (undeclared.size > 1) return
    onUndeclaredProxy(
      `A reverse proxy at ${text} forwards requests and is not trusted: everybody behind it counts as one client. ` +
        `Start with --trusted-proxy ${text} as well.`,
    )
  }

  const read: ReadForwarded = (peer, headers) => {
    const socket = readSocket(peer)
    if (!socket.isTrusted) {
      lookForProxy(socket, headers)
      return { address: socket.text, isTrusted: false, scheme: null, host: null }
    }
    const scheme = lastOf(headers.get('x-forwarded-proto'))?.toLowerCase()
    return {
      address: walkBack(socket.text, headers.get('x-forwarded-for'), isTrusted),
      isTrusted: true,
      scheme: scheme === 'https' || scheme === 'http' ? scheme : null,
      host: lastOf(headers.get('x-forwarded-host')),
    }
  }

  /** Addresses that the operator should declare with --trusted-proxy. */
  const listUndeclaredProxies = () => [...undeclared.values()]

  return { read, listUndeclaredProxies }
}

/** Walks from the nearest hop outwards. The first address that is not a trusted proxy is the client. */
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

/** Some proxies add the port: 192.0.2.7:50112, [2001:db8::7]:50112. */
function withoutPort(hop: string): string {
  const match = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(hop)
  return match?.[1] ?? match?.[2] ?? hop
}

/** An address has 45 characters at most, and an interface after `%` up to 15. */
const MAX_ADDRESS_CHARACTERS = 61

/** Turns an IPv4-mapped IPv6 address into IPv4. Leaves out the interface after `%`, which only the sender's machine knows. */
function parseAddress(text: string): Address | null {
  if (text.length > MAX_ADDRESS_CHARACTERS) return null
  const [address = ''] = text.split('%', 1)
  return ipaddr.isValid(address) ? ipaddr.process(address) : null
}

export function isLoopbackAddress(text: string): boolean {
  return parseAddress(text)?.range() === 'loopback'
}

function parseNetwork(text: string): Network {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function contains([network, bits]: Network, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, bits)
}

function lastOf(list: string | null): string | null {
  return list?.split(',').at(-1)?.trim() || null
}

/** The client that limits count: an IPv4 address, or the /64 of one household or host. Null for loopback. */
export const limitKey = remember((address: string): string | null => {
  const parsed = parseAddress(address)
  if (parsed === null) return address
  if (parsed.range() === 'loopback') return null
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`).toString()
})

/** Who takes turns in a queue: a client as in `limitKey`, and its network (IPv4 /24, IPv6 /48), which one person may control. */
export type TurnPlace = { client: string; network: string }

/** Loopback has no rate limit, but waits its turn. All of 127.0.0.0/8 is one client, because one program can use all of it. */
export const turnPlace = remember((address: string): TurnPlace => {
  const parsed = parseAddress(address)
  if (parsed === null) return { client: address, network: address }
  const text = parsed.toString()
  if (parsed.range() === 'loopback') {
    const client = text === '127.0.0.1' || parsed.kind() === 'ipv6' ? text : 'loopback'
    return { client, network: 'loopback' }
  }
  const network =
    parsed.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(`${text}/24`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${text}/48`)
  return { client: limitKey(address) ?? text, network: network.toString() }
})

const REMEMBERED = 10_000

/** Caches results for addresses and hosts, because parsing is the most expensive step of the door and most of them repeat. */
export function remember<T>(read: (address: string) => T): (address: string) => T {
  const known = new Map<string, T>()
  return (address) => {
    const before = known.get(address)
    if (before !== undefined) return before
    if (known.size >= REMEMBERED) known.clear()
    const result = read(address)
    known.set(address, result)
    return result
  }
}
