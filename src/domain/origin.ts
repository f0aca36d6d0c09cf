// Where a web page comes from: scheme, host and port, as browsers write it (RFC 6454, 6.2).

/** In lower case and without a default port, so that equal origins are equal texts; null for what is no origin. */
export function parseOrigin(text: string): string | null {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\s,*]+$/i.test(text)) return null
  return /^https?:/i.test(text) ? (URL.parse(text)?.origin ?? null) : text.toLowerCase()
}
