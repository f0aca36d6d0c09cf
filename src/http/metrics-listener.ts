// The listener of --metrics-listen, separate from that of the pages and the API. It answers only /metrics.

import { isDomainError } from '../domain/errors.ts'
import { codeOf } from '../domain/system-errors.ts'
import { splitAddress } from '../text/server-address.ts'
import { answerText } from './answers.ts'
import { createHostRules, type HostRules, readHost } from './door/host.ts'
import { pathOf } from './door/paths.ts'
import { METRICS_PATH } from './urls.ts'

const MAX_BODY = 1024

type MetricsListenerOptions = {
  /** `127.0.0.1:9100`, `[::1]:9100`. */
  address: string
  /** --base-url. Its host name is accepted here too. */
  baseUrl: string | null
  contentType: string
  read: () => Promise<string>
}

type MetricsListener = { url: string; stop(): Promise<void> }

/** Throws the system's error, with the `address` and `port` that failed. */
export function listenForMetrics(options: MetricsListenerOptions): MetricsListener {
  const { baseUrl, contentType, read } = options
  const { address, port } = splitAddress(options.address)
  const hostRules = createHostRules({ baseUrl, host: address, addresses: [address] })
  const answer = async (request: Request): Promise<Response> => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answerText(405, 'Only GET and HEAD.\n', { allow: 'GET, HEAD' })
    if (!isAskedByName(request, hostRules)) return answerText(421, FOREIGN_NAME)
    if (pathOf(request.url) !== METRICS_PATH) return answerText(404, `There is only ${METRICS_PATH} here.\n`)
    return answerText(200, request.method === 'HEAD' ? '' : await read(), { 'content-type': contentType })
  }
  const server = serve({ address, port, answer })
  return {
    url: `${server.url.origin}${METRICS_PATH}`,
    stop: () => server.stop(true),
  }
}

const FOREIGN_NAME =
  'There are no metrics under this host name. Ask by an address, by a name of the local network, or by that of --base-url.\n'

/**
 * Whether the Host is a name of this server. A web page can make another name resolve to its address (DNS
 * rebinding).
 */
function isAskedByName({ headers }: Request, { check }: HostRules): boolean {
  try {
    check(readHost(headers.get('host')), { isFromProxy: false })
    return true
  } catch (cause) {
    if (isDomainError(cause, 'unknown_host')) return false
    throw cause
  }
}

function serve(options: { address: string; port: number; answer: (request: Request) => Promise<Response> }) {
  const { address, port, answer } = options
  try {
    return Bun.serve({
      hostname: address,
      port,
      reusePort: false,
      development: false,
      maxRequestBodySize: MAX_BODY,
      fetch: answer,
      // Bun's default answer would contain the cause.
      error: () => answerText(500, 'The metrics could not be read.\n'),
    })
  } catch (cause) {
    const failed = { code: codeOf(cause), syscall: 'listen', address, port, flag: '--metrics-listen' }
    throw Object.assign(new Error(`cannot listen on ${address}`, { cause }), failed)
  }
}
