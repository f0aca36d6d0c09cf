// Finds out how to make links that name localhost work on other machines.

import ipaddr from 'ipaddr.js'
import type { Exchange } from '../../http/door/exchange.ts'
import { isLoopbackName } from '../../http/door/host.ts'
import { listReachable } from '../../http/door/reachable.ts'

export type Elsewhere = {
  /** The host in the links. */
  host: string
  /** Origins that work instead, the likeliest first; empty if this server cannot know them. */
  origins: string[]
  /** The flag to start this server with; null if it is reachable already. */
  flag: string | null
}

/** Returns null if links work on other machines. */
export type FindElsewhere = (exchange: Exchange) => Elsewhere | null

type FindElsewhereOptions = {
  baseUrl: string | null
  /** The addresses that the server listens on. */
  addresses: readonly string[]
  /** Returns all addresses of this machine. Throws if the system call fails. */
  listAddresses: () => readonly string[]
}

const EVERYWHERE = '--host 0.0.0.0'
const BASE_URL = '--base-url https://…'

export function createFindElsewhere(options: FindElsewhereOptions): FindElsewhere {
  const { baseUrl, addresses, listAddresses } = options
  const isClosed = addresses.every(isLoopbackName)
  return (exchange) => {
    const { host, hostname } = URL.parse(baseUrl ?? `http://${exchange.host}`) ?? {}
    if (host === undefined || hostname === undefined || !isThisMachine(hostname)) return null
    if (baseUrl !== null || (isClosed && exchange.isFromProxy)) return { host, origins: [], flag: BASE_URL }
    if (isClosed) return { host, origins: [], flag: EVERYWHERE }
    return { host, origins: isNextToIt(exchange) ? offer(exchange) : [], flag: null }
  }

  /**
   * Whether the client connects directly. Behind a proxy or a container's port, this machine's addresses are
   * useless.
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

/** Whether the name means the local machine. Browsers also treat 0.0.0.0 and :: so. */
function isThisMachine(name: string): boolean {
  const address = name.replace(/^\[|\]$/g, '')
  return isLoopbackName(name) || (ipaddr.isValid(address) && ipaddr.parse(address).range() === 'unspecified')
}

/** Returns the port with its colon; '' if there is none. */
function portOf(host: string): string {
  return /:\d+$/.exec(host)?.[0] ?? ''
}
