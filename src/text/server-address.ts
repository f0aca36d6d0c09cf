// Parses addresses of servers as people type them: often without a scheme, sometimes in capitals.

const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i
/** Names and addresses of this machine and of the local network. */
const NEARBY_NAME = /^[^.:[\]]+$|\.(localhost|local|lan|internal|home|home\.arpa)$/i
const NEARBY_ADDRESS =
  /^(127|10)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\.|^\[(::1|f[cd][\da-f]{2}:.*|fe[89ab][\da-f]:.*)\]$/i

/** Adds a missing scheme: http for this machine and its local network, otherwise https. */
export function withScheme(address: string): string {
  const given = address.trim()
  if (!lacksScheme(given)) return given
  const bare = given.replace(/^\/\//, '')
  const host = /^(\[[^\]]*\]|[^/:?#]*)/.exec(bare)?.[0] ?? ''
  return `${NEARBY_NAME.test(host) || NEARBY_ADDRESS.test(host) ? 'http' : 'https'}://${bare}`
}

/** Whether an address has no scheme. False for a mistyped one, such as `http:/nas`. */
export function lacksScheme(address: string): boolean {
  return !SCHEME.test(address.trim()) && !/^https?:/i.test(address.trim())
}

/** Splits `127.0.0.1:9100` and `[::1]:9100`. Returns port 0 for null. */
export function splitAddress(listen: string | null): { address: string; port: number } {
  const [, address = '', port = '0'] = /^\[?(.*?)\]?:(\d+)$/.exec(listen ?? '') ?? []
  return { address, port: Number(port) }
}
