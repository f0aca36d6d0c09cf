// Who asks, as limits count them: the client behind an address.

import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** The name under which an address is counted; null for loopback, which most limits let pass. */
export type ClientOf = (address: string) => string | null

/** An address has 45 characters at most, and an interface after `%` up to 15. */
const MAX_ADDRESS_CHARACTERS = 61

/**
 * Turns an IPv4-mapped IPv6 address into IPv4. Leaves out the interface after `%`, which only the sender's
 * machine knows. Null for anything that is no address.
 */
export function parseAddress(text: string): Address | null {
  if (text.length > MAX_ADDRESS_CHARACTERS) return null
  const [address = ''] = text.split('%', 1)
  return ipaddr.isValid(address) ? ipaddr.process(address) : null
}

export function isLoopbackAddress(text: string): boolean {
  return parseAddress(text)?.range() === 'loopback'
}

/** An IPv4 address, or the /64 of an IPv6 address: on the internet that is one household or host. */
export const networkOf: ClientOf = remember((address) => {
  const parsed = parseAddress(address)
  if (parsed === null) return address
  if (parsed.range() === 'loopback') return null
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`).toString()
})

/** Link-local and unique local addresses: the /64 is a local network of many people. */
const LOCAL_RANGES: ReadonlySet<string> = new Set(['linkLocal', 'uniqueLocal'])

/**
 * As `networkOf`, but counts single addresses on the links of this machine, where one host would otherwise
 * use up the limit of all others. `listAddresses` are those of this machine, which tell the /64 of a link.
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
 * Caches results for addresses and hosts, because parsing is the most expensive step of the door and most of
 * them repeat.
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
