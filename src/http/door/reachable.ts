// The addresses of this machine under which other machines reach a listening server.

import ipaddr from 'ipaddr.js'
import type { Address } from '../../domain/client.ts'

/** More would confuse people: the first one is nearly always right. */
const MAX_OFFERED = 3
/** Ranges that other machines cannot reach, or only with the name of an interface. */
const UNREACHABLE = new Set(['loopback', 'linkLocal', 'unspecified', 'multicast', 'broadcast'])

/**
 * `held` are the addresses that the server listens on, `own` all addresses of the machine. The likeliest one
 * comes first.
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
