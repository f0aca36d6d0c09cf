// Which addresses a message may be sent to when a listed name resolves to them.

import ipaddr from 'ipaddr.js'
import type { Address } from '../domain/client.ts'
import { isListed, type WebPlace } from '../text/web-address.ts'

/** Nothing outside this machine and its cable, or what tunnels into another network. */
const FORBIDDEN = new Set<string>([
  ...['unspecified', 'loopback', 'linkLocal', 'multicast', 'broadcast'],
  ...['deprecatedSiteLocal', 'discard', 'teredo'],
])
/**
 * What clouds tell a machine about itself, keys included: AWS and others, AWS by IPv6, Alibaba, Azure,
 * Oracle, Google, Scaleway.
 */
const METADATA = [
  ...['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16'],
  ...['192.0.0.192', 'fd20:ce::254', 'fd00:42::42'],
]
/** Where an IPv6 address carries an IPv4 one: the number of bytes before it. */
const CARRIED: Readonly<Record<string, number>> = { ipv4Mapped: 12, rfc6145: 12, rfc6052: 12, '6to4': 2 }

export type Judging = {
  /** What the operator lists: an address among it is allowed, whatever it is. */
  listed: readonly string[]
  /** The addresses of this machine. */
  own: readonly string[]
}

/** `place` is that of the URL; `address` one of those that its name has. */
export function isAllowedAddress(address: string, place: WebPlace, { listed, own }: Judging): boolean {
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

/** An IPv4 address in an IPv6 form is judged as the inner one. Null for what is no address. */
function innerOf(text: string): Address | null {
  if (!ipaddr.isValid(text)) return null
  const address = ipaddr.parse(text.split('%', 1)[0] ?? '')
  if (address.kind() === 'ipv4') return address
  const bytes = address.toByteArray()
  const start = CARRIED[address.range()] ?? (isCompatible(bytes) ? 12 : null)
  return start === null ? address : ipaddr.fromByteArray(bytes.slice(start, start + 4))
}

/** `::a.b.c.d`, the first form there was (RFC 4291, 2.5.5.1); `::` and `::1` are addresses of their own. */
function isCompatible(bytes: readonly number[]): boolean {
  return bytes.slice(0, 12).every((byte) => byte === 0) && bytes.slice(12, 14).some((byte) => byte !== 0)
}
