// Addresses under which other machines reach this server, for pages that were opened as localhost.

import ipaddr from 'ipaddr.js'
import type { Exchange } from '../../door/exchange.ts'
import { isLoopbackName } from '../../door/host.ts'

/**
 * Null when links with the request's own host work from other machines. Otherwise origins that work instead, the likeliest
 * first; none when this server cannot know them.
 */
export type FindElsewhere = (exchange: Exchange) => string[] | null

export type ReachOptions = {
  baseUrl: string | null
  /** The addresses that the server listens on. */
  addresses: readonly string[]
  /** All addresses of this machine; throws when the system call fails. */
  listAddresses: () => readonly string[]
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** More would confuse people: the first one is nearly always right. */
const MAX_OFFERED = 3
/** Ranges that other machines cannot reach, or only with the name of an interface. */
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

  /** Whether the client connects directly. Through a proxy or a container's port, this machine's addresses are of no use. */
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

/** Private addresses first, and IPv4 before IPv6, which is harder to read aloud. */
function rankOf(address: Address): number {
  if (address.kind() === 'ipv6') return 2
  return address.range() === 'private' ? 0 : 1
}

/** With its colon; empty without one. */
function portOf(host: string): string {
  return /:\d+$/.exec(host)?.[0] ?? ''
}
