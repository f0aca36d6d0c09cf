// Where addresses lie, and which of them a server may send its clients to: none nearer to the client than the server is.

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { ClientFailure, UntrueAnswer } from './failure.ts'

export type Place = 'public' | 'private' | 'link-local' | 'loopback' | 'special'

/** Finds the addresses of a host name; none when it has no addresses. */
export type FindAddresses = (host: string) => Promise<string[]>

export type StepOptions = {
  /** The server that was asked. */
  server: string
  findAddresses: FindAddresses
  /** Whether a proxy makes the connections and finds addresses in its own way. */
  hasProxy: boolean
}

const PLACES: Record<string, Place> = {
  unicast: 'public',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
  deprecatedSiteLocal: 'private',
  linkLocal: 'link-local',
  loopback: 'loopback',
  // Connecting to 0.0.0.0 or :: reaches this machine.
  unspecified: 'loopback',
}

/** An IPv6 address that carries an IPv4 one (mapped, NAT64, 6to4) lies where that one does. */
export function placeOf(address: string): Place {
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  const bytes = parsed.toByteArray()
  if (range === 'rfc6052') return placeOf(bytes.slice(12).join('.'))
  if (range === '6to4') return placeOf(bytes.slice(2, 6).join('.'))
  return PLACES[range] ?? 'special'
}

export async function findAddresses(host: string): Promise<string[]> {
  const bare = bareHost(host)
  if (isIP(bare) !== 0) return [bare]
  const found = await lookup(bare, { all: true }).catch(() => [])
  return found.map(({ address }) => address)
}

/** Without the brackets of an IPv6 address. */
function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

/**
 * The addresses at which a link that the server gave may be fetched: connect to one of these, so that the name cannot mean
 * another one a moment later. Empty when the link is on the
 * server's own origin or names an address itself, or when a proxy finds the address. Throws
 * ClientFailure for a step from https to http, and for one to a place that is nearer to this client than the server is.
 */
export async function checkStep(link: string, options: StepOptions): Promise<string[]> {
  const target = new URL(link)
  const server = new URL(options.server)
  if (target.origin === server.origin) return []
  const refuse = (why: string) =>
    new UntrueAnswer(`${server.origin} points to ${target.origin}, ${why}: not followed.`)
  if (server.protocol === 'https:' && target.protocol !== 'https:') throw refuse('which is not encrypted')
  const addresses = await options.findAddresses(target.hostname)
  const from = (await options.findAddresses(server.hostname)).map(placeOf)
  const strange = addresses.find((address) => !mayLead(from, address))
  if (strange !== undefined) throw refuse(`which is at ${strange}, nearer to this machine than the server is`)
  if (addresses.length === 0 && !options.hasProxy) {
    throw new ClientFailure('unavailable', `Cannot reach ${target.origin}: there is no such name.`)
  }
  const isName = isIP(bareHost(target.hostname)) === 0
  return options.hasProxy || !isName ? [] : addresses
}

/** A server on this machine also leads to the addresses that this machine has on its networks. */
function mayLead(from: readonly Place[], address: string): boolean {
  const to = placeOf(address)
  if (to === 'public') return true
  const isHere = from.length > 0 && from.every((place) => place === 'loopback')
  if (isHere && ownAddresses().includes(address)) return true
  return to === 'loopback' ? isHere : !from.includes('public') && from.includes(to)
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((own) => (own ?? []).map(({ address }) => address))
}
