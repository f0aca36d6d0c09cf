// The origin of a web page: scheme, host and port, serialized as in RFC 6454, section 6.2.

/** Normalizes an origin to lower case without a default port, so that equal origins compare equal; null for other text. */
export function parseOrigin(text: string): string | null {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\s,*]+$/i.test(text)) return null
  return /^https?:/i.test(text) ? (URL.parse(text)?.origin ?? null) : text.toLowerCase()
}
