// The client behind an address, as limits count it.

import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Returns the name under which an address is counted; null for loopback, which most limits exempt. */
export type ClientOf = (address: string) => string | null

/** The name under which limits that do not exempt loopback count it. */
export const LOOPBACK = 'loopback'

/** Counts loopback like any other client. Used for --receive-listen. */
export function countingLoopback(clientOf: ClientOf): (address: string) => string {
  return (address) => clientOf(address) ?? LOOPBACK
}

/** 45 characters of address, `%`, and up to 15 of the interface. */
const MAX_ADDRESS_CHARACTERS = 61

/**
 * Parses an address. Turns IPv4-mapped IPv6 into IPv4 and drops the interface after `%`, which only the
 * sender's machine knows. Returns null for anything else.
 */
export function parseAddress(text: string): Address | null {
  if (text.length > MAX_ADDRESS_CHARACTERS) return null
  const [address = ''] = text.split('%', 1)
  return ipaddr.isValid(address) ? ipaddr.process(address) : null
}

export function isLoopbackAddress(text: string): boolean {
  return parseAddress(text)?.range() === 'loopback'
}

/** Returns an IPv4 address, or the /64 of an IPv6 address, which on the internet is one household or host. */
export const networkOf: ClientOf = remember((address) => {
  const parsed = parseAddress(address)
  if (parsed === null) return address
  if (parsed.range() === 'loopback') return null
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`).toString()
})

/** Link-local and unique local ranges, where many people share a /64. */
const LOCAL_RANGES: ReadonlySet<string> = new Set(['linkLocal', 'uniqueLocal'])

/**
 * Like `networkOf`, but counts each address on this machine's own networks by itself. Otherwise one host
 * there could use up the limit of all others. `listAddresses` returns this machine's addresses, whose /64
 * prefixes identify its networks.
 */
export function createClientOf(listAddresses: () => readonly string[]): ClientOf {
  return remember((address) => {
    const network = networkOf(address)
    const parsed = parseAddress(address)
    if (network === null || parsed?.kind() !== 'ipv6') return network
    const isOnOwnLink =
      LOCAL_RANGES.has(parsed.range()) || listAddresses().some((own) => networkOf(own) === network)
    return isOnOwnLink ? parsed.toString() : network
  })
}

const REMEMBERED = 10_000

/**
 * Caches results by address or host: parsing is the most expensive step of the door, and most of them repeat.
 */
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
