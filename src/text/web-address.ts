// Parses web addresses, and compares origins and hosts. Only scheme and authority reach the URL parser, whose
// time grows with the square of the host's length.

/**
 * The scheme and authority of an address. `href` and `pathname` are left out, because the path was not read.
 */
export type UrlAuthority = Pick<
  URL,
  'protocol' | 'username' | 'password' | 'host' | 'hostname' | 'port' | 'origin'
>

/**
 * Matches scheme, authority and the delimiter after it, if any. No DNS name is longer than 253 characters
 * (RFC 1035, 2.3.4). Excludes control characters: URL parsers drop tabs and line breaks, so the authority
 * would end elsewhere.
 */
const START = /^https?:\/\/[^\p{Cc}/?#\\]{1,253}(?:[/?#\\]|$)/iu

/** The same for JSON Schema, for a whole address without control characters. */
export const WEB_ADDRESS_PATTERN =
  '^[Hh][Tt]{2}[Pp][Ss]?://[^\\x00-\\x20\\x7f-\\x9f/?#\\\\]{1,253}(?:[/?#\\\\][^\\x00-\\x1f\\x7f-\\x9f]*)?$'

/**
 * Returns the authority of an absolute http or https URL; null for any other text. Ignores the rest of the
 * URL, which cannot make it invalid (WHATWG URL, 4.4).
 */
export function authorityOf(text: string): UrlAuthority | null {
  const start = START.exec(text)?.[0]
  return start === undefined ? null : URL.parse(start)
}

/** Whether a text is an absolute http or https URL with a host, to which a browser may be redirected. */
export function isWebAddress(text: string): boolean {
  return !/\p{Cc}/u.test(text) && authorityOf(text) !== null
}

// Origins of web pages: scheme, host and port, serialized as in RFC 6454, section 6.2.

/** Normalizes an origin: lower case, no default port. Returns null for any other text. */
export function parseOrigin(text: string): string | null {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\s,*]+$/i.test(text)) return null
  return /^https?:/i.test(text) ? (authorityOf(text)?.origin ?? null) : text.toLowerCase()
}

/**
 * Returns the spellings of a normalized origin: browsers omit the default port, other programs may name it.
 */
export function spellingsOf(origin: string): string[] {
  const isTls = origin.startsWith('https:')
  const mayNamePort = (isTls || origin.startsWith('http:')) && !/:\d+$/.test(origin)
  return mayNamePort ? [origin, `${origin}:${portOf(isTls)}`] : [origin]
}

// Hosts that the operator lists, such as those of webhooks. Each has a port unless it is the default one of
// its scheme.

/** A host on the web. `hostname` is as in URLs: in lower case, IPv6 in brackets. */
export type WebPlace = { hostname: string; port: number; isTls: boolean }

/**
 * Returns the host of a URL. Returns null if it is not http or https, or names a user, which browsers and
 * proxies read in different ways.
 */
export function webPlaceOf(url: string): WebPlace | null {
  const authority = authorityOf(url)
  if (authority === null || authority.username !== '' || authority.password !== '') return null
  const isTls = authority.protocol === 'https:'
  return { hostname: authority.hostname, port: Number(authority.port) || portOf(isTls), isTls }
}

const portOf = (isTls: boolean) => (isTls ? 443 : 80)

/** Normalizes an item of the list: `host` or `host:port`; null for anything else. */
export function parsePlace(text: string): string | null {
  const given = text.trim()
  const bare = (given.match(/:/g) ?? []).length > 1 && !given.startsWith('[') ? `[${given}]` : given
  const [, host = '', digits] = /^(\[[\da-f:.]+\]|[^:[\]\s/?#@\\]+)(?::(\d{1,5}))?$/i.exec(bare) ?? []
  const hostname = host === '' ? '' : (authorityOf(`http://${host}`)?.hostname ?? '')
  const port = digits === undefined ? null : Number(digits)
  if (!/^(\[[\da-f:.]+\]|[a-z\d_]([a-z\d._-]*[a-z\d_])?)$/.test(hostname)) return null
  if (port !== null && (port < 1 || port > 65_535)) return null
  return port === null ? hostname : `${hostname}:${port}`
}

/** Whether a host is listed. An item without a port means the default of the scheme. */
export function isListed({ hostname, port, isTls }: WebPlace, listed: readonly string[]): boolean {
  return listed.includes(`${hostname}:${port}`) || (port === portOf(isTls) && listed.includes(hostname))
}
