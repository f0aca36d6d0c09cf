// Headers of every answer, whoever made it: who may open this server in a window or load its answers, and TLS for good.

/** Sets the headers of one answer. */
export type Secure = (headers: Headers) => void

/** A year, as preload lists ask. Without subdomains: they may belong to others. */
const TRANSPORT_SECURITY = 'max-age=31536000'

/** `baseUrl` is that of the settings. */
export function createSecure(baseUrl: string | null): Secure {
  const isStrict = baseUrl !== null && isForTlsAlone(new URL(baseUrl))
  return (headers) => {
    // A window of ours is out of reach for the site that opened it, and other sites embed nothing of ours.
    headers.set('cross-origin-opener-policy', 'same-origin')
    headers.set('cross-origin-resource-policy', 'same-origin')
    if (isStrict) headers.set('strict-transport-security', TRANSPORT_SECURITY)
  }
}

/** Browsers remember a name for all of its ports: on localhost that would break every other program of the machine. */
function isForTlsAlone({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && hostname !== 'localhost' && !hostname.endsWith('.localhost')
}
