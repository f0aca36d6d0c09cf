// Decides which links of a server the client may follow: none into a network that is closer to the client
// than the server is (SSRF).

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { ClientFailure, UntrueAnswer } from './failure.ts'

export type NetworkZone = 'public' | 'private' | 'link-local' | 'loopback' | 'special'

/** Resolves to the addresses of a host; empty when it has none. */
type FindAddresses = (host: string) => Promise<string[]>

type LinkCheckOptions = {
  /** The server that sent the link. */
  server: string
  findAddresses: FindAddresses
  /** Whether a proxy makes the connections and resolves the names. */
  hasProxy: boolean
}

const ZONES: Record<string, NetworkZone> = {
  unicast: 'public',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
  deprecatedSiteLocal: 'private',
  linkLocal: 'link-local',
  loopback: 'loopback',
  // Map 0.0.0.0 and :: to loopback: connecting to them reaches this machine.
  unspecified: 'loopback',
}

/** Returns the zone of an address; for IPv6 that embeds IPv4 (mapped, NAT64, 6to4), the zone of that. */
export function zoneOf(address: string): NetworkZone {
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  const bytes = parsed.toByteArray()
  if (range === 'rfc6052') return zoneOf(bytes.slice(12).join('.'))
  if (range === '6to4') return zoneOf(bytes.slice(2, 6).join('.'))
  return ZONES[range] ?? 'special'
}

export async function findAddresses(host: string): Promise<string[]> {
  const bare = bareHost(host)
  if (isIP(bare) !== 0) return [bare]
  const found = await lookup(bare, { all: true }).catch(() => [])
  return found.map(({ address }) => address)
}

/** Removes the brackets of an IPv6 address. */
function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

/**
 * Resolves to the addresses from which a server's link may be fetched. Connect to one of these: a second
 * lookup could return another address (DNS rebinding). Empty if the link has the server's origin, if its host
 * is an address, or if a proxy resolves it. Throws ClientFailure for a link from https to http, or into a
 * network that is closer to this client than the server is.
 */
export async function checkLink(link: string, options: LinkCheckOptions): Promise<string[]> {
  const target = new URL(link)
  const server = new URL(options.server)
  if (target.origin === server.origin) return []
  const refuse = (why: string) =>
    new UntrueAnswer(`${server.origin} links to ${target.origin}, ${why}. The link was not followed.`)
  if (server.protocol === 'https:' && target.protocol !== 'https:') throw refuse('which is not encrypted')
  const addresses = await options.findAddresses(target.hostname)
  const from = (await options.findAddresses(server.hostname)).map(zoneOf)
  const strange = addresses.find((address) => !mayLead(from, address))
  if (strange !== undefined) throw refuse(`which is at ${strange}, nearer to this machine than the server is`)
  if (addresses.length === 0 && !options.hasProxy) {
    throw new ClientFailure('unavailable', `Cannot reach ${target.origin}: the name does not exist.`)
  }
  const isName = isIP(bareHost(target.hostname)) === 0
  return options.hasProxy || !isName ? [] : addresses
}

/**
 * Whether a server in the zones `from` may link to an address. A server on this machine may link to all
 * addresses of this machine.
 */
function mayLead(from: readonly NetworkZone[], address: string): boolean {
  const to = zoneOf(address)
  if (to === 'public') return true
  const isHere = from.length > 0 && from.every((zone) => zone === 'loopback')
  if (isHere && ownAddresses().includes(address)) return true
  return to === 'loopback' ? isHere : !from.includes('public') && from.includes(to)
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((own) => (own ?? []).map(({ address }) => address))
}
