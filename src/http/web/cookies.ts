// The two cookies of the pages: who is signed in, and the language somebody chose. Who only receives gets neither.

import { SESSION_LIFETIME } from '../../domain/account.ts'
import { DAY } from '../../domain/time.ts'
import type { Exchange } from '../exchange.ts'

/** With a prefix wherever that is possible: no other site of the same domain can set such a cookie (RFC 6265bis, 4.1.3). */
const SESSION = 'oncebox_session'
const PREFIXES = ['__Host-', '__Secure-', '']
const LANGUAGE = 'oncebox_language'

export function sessionTokenIn(request: Request): string | null {
  return (
    PREFIXES.map((prefix) => cookieIn(request, `${prefix}${SESSION}`)).find((value) => value !== null) ?? null
  )
}

export function languageIn(request: Request): string | null {
  return cookieIn(request, LANGUAGE)
}

export type CookiePlace = { exchange: Exchange; basePath: string }

export function sessionCookie(sessionToken: string, place: CookiePlace): string {
  return cookie(sessionName(place), { value: sessionToken, maxAge: SESSION_LIFETIME, ...place })
}

export function noSessionCookie(place: CookiePlace): string {
  return cookie(sessionName(place), { value: '', maxAge: 0, ...place })
}

export function languageCookie(language: string, place: CookiePlace): string {
  return cookie(LANGUAGE, { value: language, maxAge: 365 * DAY, ...place })
}

function sessionName({ exchange, basePath }: CookiePlace): string {
  const prefix = isSecure(exchange) ? (basePath === '' ? '__Host-' : '__Secure-') : ''
  return `${prefix}${SESSION}`
}

/** A trusted proxy says so, --base-url does of its own name, or the form of our own page that was sent over TLS. */
function isSecure({ scheme, baseUrl, host, request }: Exchange): boolean {
  if (scheme !== null) return scheme === 'https'
  const isOwnName = URL.canParse(baseUrl) && new URL(baseUrl).host === host?.toLowerCase()
  if (isOwnName && baseUrl.startsWith('https:')) return true
  return request.headers.get('origin')?.startsWith('https://') ?? false
}

/** Lax, so that whoever follows a link to the lists is signed in there; every change is a form with a token besides. */
function cookie(name: string, of: CookiePlace & { value: string; maxAge: number }): string {
  const { value, maxAge, basePath, exchange } = of
  const attributes = [`Path=${basePath || '/'}`, 'HttpOnly', 'SameSite=Lax', `Max-Age=${maxAge / 1000}`]
  return [`${name}=${value}`, ...attributes, ...(isSecure(exchange) ? ['Secure'] : [])].join('; ')
}

function cookieIn({ headers }: Request, name: string): string | null {
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name && value) return value
  }
  return null
}
