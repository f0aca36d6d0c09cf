// Whether a message may be sent to an address that a listed name resolves to.

import ipaddr from 'ipaddr.js'
import type { Address } from '../domain/client.ts'
import { isListed, type WebPlace } from '../text/web-address.ts'

/** Ranges of this machine and its local network, and ranges that tunnel into another network. */
const FORBIDDEN = new Set<string>([
  ...['unspecified', 'loopback', 'linkLocal', 'multicast', 'broadcast'],
  ...['deprecatedSiteLocal', 'discard', 'teredo'],
])
/**
 * Metadata services of clouds, which reveal keys: AWS and others, AWS by IPv6, Alibaba, Azure, Oracle,
 * Google, Scaleway.
 */
const METADATA = [
  ...['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16'],
  ...['192.0.0.192', 'fd20:ce::254', 'fd00:42::42'],
]
/** Offset in bytes of the IPv4 address that an IPv6 address of each range carries. */
const CARRIED: Readonly<Record<string, number>> = { ipv4Mapped: 12, rfc6145: 12, rfc6052: 12, '6to4': 2 }

type AddressRules = {
  /** The listed hosts: an address among them is always allowed. */
  listed: readonly string[]
  /** The addresses of this machine. */
  own: readonly string[]
}

/** `place`: host and port of the URL. `address`: an address that the host resolves to. */
export function isAllowedAddress(address: string, place: WebPlace, { listed, own }: AddressRules): boolean {
  const judged = innerOf(address)
  if (judged === null) return false
  const hostname = judged.kind() === 'ipv6' ? `[${judged}]` : judged.toString()
  if (isListed({ ...place, hostname }, listed)) return true
  const text = judged.toString()
  return (
    !FORBIDDEN.has(judged.range()) &&
    !METADATA.includes(text) &&
    !own.some((one) => innerOf(one)?.toString() === text)
  )
}

/**
 * Returns the inner address of an IPv4 address in an IPv6 form, or the address itself. Returns null for
 * invalid text.
 */
function innerOf(text: string): Address | null {
  if (!ipaddr.isValid(text)) return null
  const address = ipaddr.parse(text.split('%', 1)[0] ?? '')
  if (address.kind() === 'ipv4') return address
  const bytes = address.toByteArray()
  const start = CARRIED[address.range()] ?? (isCompatible(bytes) ? 12 : null)
  return start === null ? address : ipaddr.fromByteArray(bytes.slice(start, start + 4))
}

/** Whether this is `::a.b.c.d`, an IPv4-compatible address (RFC 4291, 2.5.5.1). `::` and `::1` are not. */
function isCompatible(bytes: readonly number[]): boolean {
  return bytes.slice(0, 12).every((byte) => byte === 0) && bytes.slice(12, 14).some((byte) => byte !== 0)
}
