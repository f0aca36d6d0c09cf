// Addresses under which other machines reach this server, for pages that were opened as localhost.

import ipaddr from 'ipaddr.js'
import type { Exchange } from '../../http/door/exchange.ts'
import { isLoopbackName } from '../../http/door/host.ts'
import { listReachable } from '../../http/door/reachable.ts'

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

export function createFindElsewhere({ baseUrl, addresses, listAddresses }: ReachOptions): FindElsewhere {
  const isReachable = baseUrl === null && !addresses.every(isLoopbackName)
  return (exchange) => {
    const name = isReachable ? URL.parse(`http://${exchange.host}`)?.hostname : undefined
    if (name === undefined || !isThisMachine(name)) return null
    return isNextToIt(exchange) ? offer(exchange) : []
  }

  /** Whether the client connects directly. Through a proxy or a container's port, this machine's addresses are of no use. */
  function isNextToIt({ isFromProxy, clientAddress }: Exchange): boolean {
    return !isFromProxy && (isLoopbackName(clientAddress) || listOwn().includes(clientAddress))
  }

  function offer({ scheme, host }: Exchange): string[] {
    const origin = (name: string) => `${scheme ?? 'http'}://${name}${portOf(host ?? '')}`
    return listReachable({ held: addresses, own: listOwn() }).map(origin)
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

/** With its colon; empty without one. */
function portOf(host: string): string {
  return /:\d+$/.exec(host)?.[0] ?? ''
}
