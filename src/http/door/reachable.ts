// The URLs of a listening server: one for this machine, and those by which other machines reach it.

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Address } from '../../domain/client.ts'
import { type Listener, LOOPBACK_4, LOOPBACK_6, type Network } from './listener.ts'
import { isUnixHost } from './unix-socket.ts'

/**
 * How many addresses to offer. The first one is nearly always right; more than a few would confuse people.
 */
const MAX_OFFERED = 3
/** Ranges that other machines cannot reach, or only with the name of an interface. */
const UNREACHABLE = new Set(['loopback', 'linkLocal', 'unspecified', 'multicast', 'broadcast'])

export type ServerUrls = {
  /** The URL for other machines; that for this one if the server listens on loopback only. */
  url: string
  /** The URL for this machine. Names an address of this process: another program may listen on others. */
  hereUrl: string
  /** The URLs for other machines, the likeliest first. Empty if the server listens on loopback only. */
  elsewhere: string[]
}

/** `host`: the setting. A URL says `localhost` only if this process listens on both loopback addresses. */
export function urlsOf(
  { addresses, port, scheme }: Pick<Listener, 'addresses' | 'port'> & { scheme: 'http' | 'https' },
  { host, listAddresses }: { host: string; listAddresses: Network['listAddresses'] },
): ServerUrls {
  // The proxy in front of a Unix socket decides its public name.
  if (isUnixHost(host)) return { url: host, hereUrl: `${scheme}://localhost`, elsewhere: [] }
  const has = (...wanted: string[]) => addresses.some((address) => wanted.includes(address))
  const isLocalhost = has('::') || (has(LOOPBACK_4, '0.0.0.0') && has(LOOPBACK_6))
  const isEverywhere = has('0.0.0.0', '::')
  const isName = host.toLowerCase() !== 'localhost' && isIP(host) === 0
  const own = isName ? host : (addresses[0] ?? '')
  const here = isLocalhost ? 'localhost' : isEverywhere ? LOOPBACK_4 : own
  const urlTo = (name: string) => `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}`
  const reachable = listReachable({ held: addresses, own: listOrNone(listAddresses) })
  const elsewhere =
    isName && reachable.length > 0 ? [urlTo(host)] : reachable.map((name) => `${scheme}://${name}:${port}`)
  return { url: urlTo(isEverywhere ? own : here), hereUrl: urlTo(here), elsewhere }
}

/** Returns no address if the system call fails. */
export function listOrNone(listAddresses: Network['listAddresses']): readonly string[] {
  try {
    return listAddresses()
  } catch {
    return []
  }
}

/**
 * Lists the addresses by which other machines reach the server, the likeliest first. `held`: the addresses
 * that it listens on; `own`: all addresses of the machine.
 */
export function listReachable({ held, own }: { held: readonly string[]; own: readonly string[] }): string[] {
  const isListenedOn = (address: Address) =>
    held.some((one) => one === '::' || one === address.toString() || isEveryIpv4(one, address))
  return own
    .filter(ipaddr.isValid)
    .map((address) => ipaddr.parse(address))
    .filter((address) => !UNREACHABLE.has(address.range()) && isListenedOn(address))
    .sort((one, other) => rankOf(one) - rankOf(other))
    .slice(0, MAX_OFFERED)
    .map((address) => (address.kind() === 'ipv6' ? `[${address}]` : address.toString()))
}

function isEveryIpv4(held: string, address: Address): boolean {
  return held === '0.0.0.0' && address.kind() === 'ipv4'
}

/** Private addresses first, and IPv4 before IPv6, which is harder to read aloud. */
function rankOf(address: Address): number {
  if (address.kind() === 'ipv6') return 2
  return address.range() === 'private' ? 0 : 1
}
