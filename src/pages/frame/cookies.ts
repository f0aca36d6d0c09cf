// The cookies of the pages: who is signed in, the chosen language, and who created a push. Receivers get none
// of them.

import { SESSION_LIFETIME } from '../../domain/account.ts'
import { DAY } from '../../domain/time.ts'
import type { Exchange } from '../../http/door/exchange.ts'

/**
 * What is kept in cookies, and for how long: the session, the chosen language, and the mark of the push
 * created last.
 */
const LIFETIMES = { session: SESSION_LIFETIME, language: 365 * DAY, sender: DAY }

type CookieName = keyof typeof LIFETIMES

/**
 * Over TLS, browsers accept a cookie with this prefix only from this host, over TLS and for every path (RFC
 * 6265bis,
 * 4.1.3.2). A sibling subdomain, another port or a page over plain HTTP cannot set one.
 */
const HOST_PREFIX = '__Host-'

export type CookiePlace = { exchange: Exchange; basePath: string }

/** Servers under different paths of one host use cookies of different names. */
function plainName(name: CookieName, { basePath }: CookiePlace): string {
  return `oncebox_${name}${basePath.replace(/\//g, '.').replace(/[^\w.-]/g, '_')}`
}

/**
 * Whether the browser used TLS. That is known from this process or a trusted proxy, or from an https
 * --base-url: for a request to its host, whatever the proxy says of the last hop, and for one with its
 * Origin, where a proxy has replaced the Host.
 */
function isSecure({ request, scheme, baseUrl, host }: Exchange): boolean {
  if (scheme === 'https') return true
  const base = baseUrl.startsWith('https:') ? URL.parse(baseUrl) : null
  if (base === null) return false
  // The URL leaves out the default port, which some proxies name in the Host.
  const asked = host === null ? null : URL.parse(`https://${host}`)
  return asked?.origin === base.origin || request.headers.get('origin') === base.origin
}

/**
 * The header that sets a cookie; an empty value ends it. SameSite is Lax, so that a link to the lists opens
 * signed in. Every change needs a form token as well.
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

/** Over TLS, reads only the prefixed name. Null also when two cookies of one name differ. */
export function cookieIn(place: CookiePlace, name: CookieName): string | null {
  const { request } = place.exchange
  if (!request.headers.has('cookie')) return null
  const plain = plainName(name, place)
  const overTls = valuesOf(request, `${HOST_PREFIX}${plain}`)
  // A cookie that was set over TLS goes first, also on requests that no longer show that they came over TLS.
  const isDecided = isSecure(place.exchange) || overTls.size > 0
  const values = isDecided ? overTls : valuesOf(request, plain)
  // Do not choose one of two: an attacker who sets the second one controls their order.
  const [only = null] = values.size === 1 ? values : []
  return only
}

/**
 * Compares names exactly and trims spaces alone: other white space belongs to the name, perhaps of an
 * attacker's cookie.
 */
function valuesOf({ headers }: Request, name: string): Set<string> {
  const values = new Set<string>()
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const [key, value] = pair.replace(/^ +/, '').split('=', 2)
    if (key === name && value) values.add(value)
  }
  return values
}
