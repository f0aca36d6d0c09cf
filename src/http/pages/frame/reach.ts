// Where others on the network find this server, when a page was opened by a name that means another machine to them.

import ipaddr from 'ipaddr.js'
import type { Exchange } from '../../door/exchange.ts'
import { isLoopbackName } from '../../door/host.ts'

/**
 * Null where links of the request's own host open for everybody who can reach this server. Otherwise origins that others
 * can use instead, the likeliest first; none when this server cannot know them.
 */
export type FindElsewhere = (exchange: Exchange) => string[] | null

export type ReachOptions = {
  baseUrl: string | null
  /** Those that the server listens on. */
  addresses: readonly string[]
  /** All addresses of this machine; throws when the system does not tell. */
  listAddresses: () => readonly string[]
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** More would be a riddle: the first one is hardly ever wrong. */
const MAX_OFFERED = 3
/** Of no use to others, or not without the name of a network. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'loopback',
  'linkLocal',
  'unspecified',
  'multicast',
  'broadcast',
])

export function createFindElsewhere({ baseUrl, addresses, listAddresses }: ReachOptions): FindElsewhere {
  const isReachable = baseUrl === null && !addresses.every(isLoopbackName)
  return (exchange) => {
    const name = isReachable ? URL.parse(`http://${exchange.host}`)?.hostname : undefined
    if (name === undefined || !isThisMachine(name)) return null
    return isNextToIt(exchange) ? offer(portOf(exchange.host ?? '')) : []
  }

  /** Behind a proxy, or a port that a container forwards, addresses of this machine lead elsewhere or nowhere. */
  function isNextToIt({ scheme, clientAddress }: Exchange): boolean {
    return scheme === null && (isLoopbackName(clientAddress) || listOwn().includes(clientAddress))
  }

  function offer(port: string): string[] {
    const isListenedOn = (address: Address) =>
      addresses.some((held) => held === '::' || held === address.toString() || isEveryIpv4(held, address))
    return listOwn()
      .map((address) => ipaddr.parse(address))
      .filter((address) => !UNREACHABLE.has(address.range()) && isListenedOn(address))
      .sort((one, other) => rankOf(one) - rankOf(other))
      .slice(0, MAX_OFFERED)
      .map((address) => `http://${address.kind() === 'ipv6' ? `[${address}]` : address}${port}`)
  }

  function listOwn(): string[] {
    try {
      return listAddresses().filter(ipaddr.isValid)
    } catch {
      return []
    }
  }
}

/** Browsers take the unspecified address, 0.0.0.0 or ::, for the machine that they run on. */
function isThisMachine(name: string): boolean {
  const address = name.replace(/^\[|\]$/g, '')
  return isLoopbackName(name) || (ipaddr.isValid(address) && ipaddr.parse(address).range() === 'unspecified')
}

function isEveryIpv4(held: string, address: Address): boolean {
  return held === '0.0.0.0' && address.kind() === 'ipv4'
}

/** Addresses of a local network come first, and IPv4 before IPv6, which is harder to read aloud. */
function rankOf(address: Address): number {
  if (address.kind() === 'ipv6') return 2
  return address.range() === 'private' ? 0 : 1
}

/** With its colon; empty without one. */
function portOf(host: string): string {
  return /:\d+$/.exec(host)?.[0] ?? ''
}
