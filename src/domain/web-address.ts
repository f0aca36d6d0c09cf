// Takes web addresses apart. Only scheme and authority reach the URL parser, whose cost grows with the square of a host.

/** What the scheme and the authority of an address say. `href` and `pathname` are left out: the path was not read. */
export type Authority = Pick<
  URL,
  'protocol' | 'username' | 'password' | 'host' | 'hostname' | 'port' | 'origin'
>

/**
 * Scheme, authority and the character that ends it; at the end of the text there is none. No name in the DNS is longer than 253
 * characters (RFC 1035, 2.3.4). URL parsers drop tabs and line breaks, which would move the end: so no control character.
 */
const START = /^https?:\/\/[^\p{Cc}/?#\\]{1,253}(?:[/?#\\]|$)/iu

/**
 * The authority of an absolute http or https URL; null for any other text. What follows the authority is not looked at: it
 * cannot make a URL invalid (WHATWG URL, 4.4).
 */
export function authorityOf(text: string): Authority | null {
  const start = START.exec(text)?.[0]
  return start === undefined ? null : URL.parse(start)
}

/** Whether it is an absolute http or https URL with a host, to which a browser may be redirected. */
export function isWebAddress(text: string): boolean {
  return !/\p{Cc}/u.test(text) && authorityOf(text) !== null
}
