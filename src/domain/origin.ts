// The origin of a web page: scheme, host and port, serialized as in RFC 6454, section 6.2.

import { authorityOf } from './web-address.ts'

/** Normalizes an origin to lower case without a default port, so that equal origins compare equal; null for other text. */
export function parseOrigin(text: string): string | null {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\s,*]+$/i.test(text)) return null
  return /^https?:/i.test(text) ? (authorityOf(text)?.origin ?? null) : text.toLowerCase()
}

const DEFAULT_PORTS = { 'http:': 80, 'https:': 443 } as const

/** The texts that mean a normalized origin: browsers leave out the default port, and other programs may name it. */
export function spellingsOf(origin: string): string[] {
  const scheme = origin.startsWith('https:') ? 'https:' : 'http:'
  const mayNamePort = origin.startsWith(scheme) && !/:\d+$/.test(origin)
  return mayNamePort ? [origin, `${origin}:${DEFAULT_PORTS[scheme]}`] : [origin]
}
