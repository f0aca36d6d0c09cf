// The cookies of the pages: the session, the chosen language, and which push was created last. Recipients get
// none.

import { SESSION_LIFETIME } from '../../domain/account.ts'
import { CHALLENGE_LIFETIME } from '../../domain/passkey.ts'
import { DAY, MINUTE } from '../../domain/time.ts'
import type { Exchange } from '../../http/door/exchange.ts'

/**
 * How long each cookie is kept. `sender` marks the push that this browser created last; `provider` ties a
 * sign-in by the provider to this browser, and `passkey` a challenge.
 */
const LIFETIMES = {
  ...{ session: SESSION_LIFETIME, language: 365 * DAY, sender: DAY },
  ...{ provider: 10 * MINUTE, passkey: CHALLENGE_LIFETIME },
}

type CookieName = keyof typeof LIFETIMES

/**
 * Browsers accept a cookie with this prefix only from this host, over TLS and for every path (RFC 6265bis,
 * 4.1.3.2). A sibling subdomain, another port or a page over plain HTTP cannot set one.
 */
const HOST_PREFIX = '__Host-'

type CookiePlace = { exchange: Exchange; basePath: string }

/** Returns a name that includes the base path, so that two servers on one host have different cookies. */
function plainName(name: CookieName, { basePath }: CookiePlace): string {
  return `oncebox_${name}${basePath.replace(/\//g, '.').replace(/[^\w.-]/g, '_')}`
}

/**
 * Whether the browser used TLS, according to this process, a trusted proxy, or an https --base-url. The base
 * URL decides for requests to its host, because a proxy may report only the last hop, and for requests with
 * its Origin, because a proxy may replace the Host.
 */
function isSecure({ request, scheme, baseUrl, host }: Exchange): boolean {
  if (scheme === 'https') return true
  const base = baseUrl.startsWith('https:') ? URL.parse(baseUrl) : null
  if (base === null) return false
  // URL drops the default port, which some proxies write into the Host.
  const asked = host === null ? null : URL.parse(`https://${host}`)
  return asked?.origin === base.origin || request.headers.get('origin') === base.origin
}

/**
 * Returns a Set-Cookie header; an empty value deletes the cookie. SameSite is Lax, so that a link from
 * another site to the lists keeps the user signed in. Changes need a form token as well.
 */
export function cookieOf(place: CookiePlace, { name, value }: { name: CookieName; value: string }): string {
  const { basePath, exchange } = place
  const isOverTls = isSecure(exchange)
  const fullName = `${isOverTls ? HOST_PREFIX : ''}${plainName(name, place)}`
  const path = isOverTls ? '/' : basePath || '/'
  const maxAge = value === '' ? 0 : LIFETIMES[name] / 1000
  const attributes = [`Path=${path}`, 'HttpOnly', 'SameSite=Lax', `Max-Age=${maxAge}`]
  return [`${fullName}=${value}`, ...attributes, ...(isOverTls ? ['Secure'] : [])].join('; ')
}

/**
 * Returns a cookie's value. Over TLS, reads only the prefixed name. Returns null if two cookies of one name
 * differ.
 */
export function cookieIn(place: CookiePlace, name: CookieName): string | null {
  const { request } = place.exchange
  if (!request.headers.has('cookie')) return null
  const plain = plainName(name, place)
  const overTls = valuesOf(request, `${HOST_PREFIX}${plain}`)
  // Prefer a cookie that was set over TLS, even if this request no longer looks like TLS.
  const isDecided = isSecure(place.exchange) || overTls.size > 0
  const values = isDecided ? overTls : valuesOf(request, plain)
  // Ignore a cookie with two values: an attacker who sets the second one controls their order.
  const [only = null] = values.size === 1 ? values : []
  return only
}

/**
 * Compares names exactly and trims only spaces: other white space may belong to an attacker's cookie name.
 */
function valuesOf({ headers }: Request, name: string): Set<string> {
  const values = new Set<string>()
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const [key, value] = pair.replace(/^ +/, '').split('=', 2)
    if (key === name && value) values.add(value)
  }
  return values
}
