// The cookies of the pages: who is signed in, the chosen language, and who created a push. Receivers get none of them.

import { SESSION_LIFETIME } from '../../domain/account.ts'
import { DAY } from '../../domain/time.ts'
import type { Exchange } from '../../http/door/exchange.ts'

const SESSION = 'oncebox_session'
const LANGUAGE = 'oncebox_language'
const SENDER = 'oncebox_sender'

/**
 * Over TLS, browsers accept a cookie with this prefix only from this host, over TLS and for every path (RFC 6265bis,
 * 4.1.3.2). A sibling subdomain, another port or a page over plain HTTP cannot set one.
 */
const HOST_PREFIX = '__Host-'

export type CookiePlace = { exchange: Exchange; basePath: string }

export function sessionTokenIn(place: CookiePlace): string | null {
  return cookieIn(SESSION, place)
}

export function languageIn(place: CookiePlace): string | null {
  return cookieIn(LANGUAGE, place)
}

export function sessionCookie(sessionToken: string, place: CookiePlace): string {
  return cookie(SESSION, { value: sessionToken, maxAge: SESSION_LIFETIME, ...place })
}

export function noSessionCookie(place: CookiePlace): string {
  return cookie(SESSION, { value: '', maxAge: 0, ...place })
}

export function languageCookie(language: string, place: CookiePlace): string {
  return cookie(LANGUAGE, { value: language, maxAge: 365 * DAY, ...place })
}

/** Of the push that this browser created last. */
export function senderMarkIn(place: CookiePlace): string | null {
  return cookieIn(SENDER, place)
}

export function senderCookie(mark: string, place: CookiePlace): string {
  return cookie(SENDER, { value: mark, maxAge: DAY, ...place })
}

/** Servers under different paths of one host use cookies of different names. */
function plainName(name: string, { basePath }: CookiePlace): string {
  return `${name}${basePath.replace(/\//g, '.').replace(/[^\w.-]/g, '_')}`
}

/**
 * Whether the browser used TLS. That is known from this process or a trusted proxy, or from an https --base-url: for a request
 * to its host, whatever the proxy says of the last hop, and for one with its Origin, where a proxy has replaced the Host.
 */
function isSecure({ request, scheme, baseUrl, host }: Exchange): boolean {
  if (scheme === 'https') return true
  const base = baseUrl.startsWith('https:') ? URL.parse(baseUrl) : null
  if (base === null) return false
  // The URL leaves out the default port, which some proxies name in the Host.
  const asked = host === null ? null : URL.parse(`https://${host}`)
  return asked?.origin === base.origin || request.headers.get('origin') === base.origin
}

/** SameSite is Lax, so that a link to the lists opens signed in. Every change needs a form token as well. */
function cookie(name: string, of: CookiePlace & { value: string; maxAge: number }): string {
  const { value, maxAge, basePath, exchange } = of
  const isOverTls = isSecure(exchange)
  const fullName = `${isOverTls ? HOST_PREFIX : ''}${plainName(name, of)}`
  const path = isOverTls ? '/' : basePath || '/'
  const attributes = [`Path=${path}`, 'HttpOnly', 'SameSite=Lax', `Max-Age=${maxAge / 1000}`]
  return [`${fullName}=${value}`, ...attributes, ...(isOverTls ? ['Secure'] : [])].join('; ')
}

/** Over TLS, reads only the prefixed name. Null also when two cookies of one name differ. */
function cookieIn(name: string, place: CookiePlace): string | null {
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

/** Compares names exactly and trims spaces alone: other white space belongs to the name, perhaps of an attacker's cookie. */
function valuesOf({ headers }: Request, name: string): Set<string> {
  const values = new Set<string>()
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const [key, value] = pair.replace(/^ +/, '').split('=', 2)
    if (key === name && value) values.add(value)
  }
  return values
}
