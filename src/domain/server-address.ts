// Addresses of servers as people write them: often without a scheme, sometimes in capitals.

const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i
/** Names and addresses of this machine and of the network it stands in. */
const NEARBY_NAME = /^[^.:[\]]+$|\.(localhost|local|lan|internal|home|home\.arpa)$/i
const NEARBY_ADDRESS =
  /^(127|10)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\.|^\[(::1|f[cd][\da-f]{2}:.*|fe[89ab][\da-f]:.*)\]$/i

/** Adds the scheme that was left out: http for this machine and its own network, https for everything else. */
export function withScheme(address: string): string {
  const given = address.trim()
  if (!lacksScheme(given)) return given
  const bare = given.replace(/^\/\//, '')
  const host = /^(\[[^\]]*\]|[^/:?#]*)/.exec(bare)?.[0] ?? ''
  return `${NEARBY_NAME.test(host) || NEARBY_ADDRESS.test(host) ? 'http' : 'https'}://${bare}`
}

/** Also false for what was meant to have one, such as `http:/nas`. */
export function lacksScheme(address: string): boolean {
  return !SCHEME.test(address.trim()) && !/^https?:/i.test(address.trim())
}
