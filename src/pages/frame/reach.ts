// What makes links work on other machines, for pages whose links say localhost.

import ipaddr from 'ipaddr.js'
import type { Exchange } from '../../http/door/exchange.ts'
import { isLoopbackName } from '../../http/door/host.ts'
import { listReachable } from '../../http/door/reachable.ts'

export type Elsewhere = {
  /** The host in the links. */
  host: string
  /** Origins that work instead, the likeliest first; none when this server cannot know them. */
  origins: string[]
  /** What this server has to be started with; null when it can be reached already. */
  flag: string | null
}

/** Null when links work from other machines. */
export type FindElsewhere = (exchange: Exchange) => Elsewhere | null

export type ReachOptions = {
  baseUrl: string | null
  /** The addresses that the server listens on. */
  addresses: readonly string[]
  /** All addresses of this machine; throws when the system call fails. */
  listAddresses: () => readonly string[]
}

const EVERYWHERE = '--host 0.0.0.0'
const BASE_URL = '--base-url https://…'

export function createFindElsewhere({ baseUrl, addresses, listAddresses }: ReachOptions): FindElsewhere {
  const isClosed = addresses.every(isLoopbackName)
  return (exchange) => {
    const { host, hostname } = URL.parse(baseUrl ?? `http://${exchange.host}`) ?? {}
    if (host === undefined || hostname === undefined || !isThisMachine(hostname)) return null
    if (baseUrl !== null || (isClosed && exchange.isFromProxy)) return { host, origins: [], flag: BASE_URL }
    if (isClosed) return { host, origins: [], flag: EVERYWHERE }
    return { host, origins: isNextToIt(exchange) ? offer(exchange) : [], flag: null }
  }

  /**
   * Whether the client connects directly. Through a proxy or a container's port, this machine's addresses are
   * of no use.
   */
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
