// Parses the link or bare token by which a user names a push or a request.

import { isLoopback } from '../text/local-names.ts'
import { lacksScheme, withScheme } from '../text/server-address.ts'
import { authorityOf } from '../text/web-address.ts'

const TOKEN = /^[\w-]{4,128}$/
/** A secret link of any version, an API address of a push, or the link of a request. */
const LINK =
  /^(https?:\/\/[^/?#\s]+(?:\/[^?#\s]*?)?)\/([pfrq]|api\/v2\/pushes)\/([\w-]{4,128})(?:\/r|\/preview)?(?:\.json)?\/?(?:\?[^#]*)?(?:#(.*))?$/i
/** Older servers put the reader's language before the path. */
const LANGUAGE = /\/[a-z]{2}(-[A-Za-z]{2,4})?$/

const SLASHES = /(?<!\/)\/+$/

export function isUrlToken(text: string): boolean {
  return TOKEN.test(text)
}

const MAX_LINK_CHARACTERS = 2000

/**
 * Normalizes a server's link so that it contains no invisible characters. Returns null when it is not a web
 * address, or is plain http although the server uses https.
 */
export function acceptLink(link: string, server: string): string | null {
  const authority = link.length > MAX_LINK_CHARACTERS ? null : authorityOf(link)
  if (authority === null || authority.username !== '' || authority.password !== '') return null
  const isStepDown = authority.protocol === 'http:' && new URL(server).protocol === 'https:'
  return isStepDown ? null : new URL(link).href
}

/**
 * Returns null when the text is neither a link nor a token. `server` is null for a bare token, which belongs
 * to the server of the login. `isSchemeGuessed`: the link lacked http or https. `isRequest`: it is the link
 * of a request. `fragment`: the text after `#`, which no request may carry; null without `#`, and empty for a
 * key that was cut off whole.
 */
export function parseLinkOrToken(text: string) {
  if (text.length > MAX_LINK_CHARACTERS) return null
  const given = text.trim().replace(/^<(.*)>$/, '$1')
  const [, token, key] = /^([\w-]+)(?:#(.*))?$/.exec(given) ?? []
  if (token !== undefined && TOKEN.test(token)) {
    const named = { urlToken: inOwnCase(token), fragment: key ?? null }
    return { ...named, server: null, isSchemeGuessed: false, isRequest: false }
  }
  const [, base, family, urlToken, fragment] = LINK.exec(withScheme(given)) ?? []
  const authority = base === undefined ? null : authorityOf(base)
  if (base === undefined || urlToken === undefined || authority === null) return null
  if (authority.username !== '' || authority.password !== '') return null
  const path = new URL(base).pathname.replace(SLASHES, '').replace(LANGUAGE, '')
  const server = `${authority.origin}${path}`
  const isRequest = family?.toLowerCase() === 'q'
  const named = { urlToken: inOwnCase(urlToken), fragment: fragment ?? null }
  return { ...named, server, isSchemeGuessed: lacksScheme(given), isRequest }
}

/** Lower-case the token, because some programs and QR codes write whole links in capitals. */
function inOwnCase(urlToken: string): string {
  return /[a-z]/.test(urlToken) ? urlToken : urlToken.toLowerCase()
}

/** Whether an API token for one server may be sent to the other. */
export function isSameServer(one: string, other: string): boolean {
  return normalize(one) === normalize(other)
}

function normalize(server: string): string {
  const { origin, pathname } = new URL(server)
  return `${origin}${pathname}`.replace(SLASHES, '')
}

/** Whether requests to the server cross a network unencrypted. */
export function isInTheClear(server: string): boolean {
  const { protocol, hostname } = new URL(server)
  return protocol === 'http:' && !isLoopback(hostname)
}
