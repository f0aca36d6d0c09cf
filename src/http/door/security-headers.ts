// Security headers of every answer: isolation from other sites, and HSTS where --base-url says https.

/** Sets the headers of one answer. */
export type Secure = (headers: Headers) => void

/** A year, as preload lists require. Without subdomains, which may belong to others. */
const TRANSPORT_SECURITY = 'max-age=31536000'

export type SecureOptions = {
  /** That of the settings. */
  baseUrl: string | null
  tls: 'off' | 'auto' | 'files'
}

export function createSecure({ baseUrl, tls }: SecureOptions): Secure {
  // With an authority of our own, HSTS would lock out everybody when the authority changes.
  const isStrict = tls !== 'auto' && baseUrl !== null && isForTlsAlone(new URL(baseUrl))
  return (headers) => {
    // A site that opens this one in a window cannot control it, and other sites cannot embed its answers.
    headers.set('cross-origin-opener-policy', 'same-origin')
    headers.set('cross-origin-resource-policy', 'same-origin')
    if (isStrict) headers.set('strict-transport-security', TRANSPORT_SECURITY)
  }
}

/** Never for localhost: HSTS covers every port of a name, and would break other programs of the machine. */
function isForTlsAlone({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && hostname !== 'localhost' && !hostname.endsWith('.localhost')
}
