// Security headers of every answer: isolation from other sites, and HSTS where --base-url says https.

/** Sets the headers of one answer. */
export type Secure = (headers: Headers) => void

/** A year, as preload lists require. Without subdomains, which may belong to others. */
const TRANSPORT_SECURITY = 'max-age=31536000'

/** `baseUrl` is that of the settings. */
export function createSecure(baseUrl: string | null): Secure {
  const isStrict = baseUrl !== null && isForTlsAlone(new URL(baseUrl))
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
