// Plain HTTP beside TLS: redirects pages to https, and serves only what a device needs before it trusts this
// server.

import { DomainError } from '../../domain/errors.ts'
import { answerSeeOther } from '../answers.ts'
import { FILES, PAGES } from '../urls.ts'
import type { Exchange } from './exchange.ts'
import { isJsonPath, startOfPath } from './paths.ts'
import type { AnswerRoute } from './router.ts'

/** The paths of the trust page and the health checks. A path that ends in / includes all paths below it. */
const OPEN_PATHS: readonly string[] = [
  PAGES.trust.path,
  FILES.authority.href({ name: '' }),
  FILES.asset.href({ name: '' }),
  FILES.favicon.path,
  FILES.robots.path,
  FILES.up.path,
  FILES.ready.path,
]

type PlainHttpOptions = {
  answerRoute: AnswerRoute
  /** The host of --base-url. If null, redirects keep the host that the client used. */
  baseUrl: string | null
  /** The port of https, once it is known. */
  httpsPort: () => number
}

/** The front door has checked the Host, so no redirect can lead to another site. */
export function createAnswerPlain({ answerRoute, baseUrl, httpsPort }: PlainHttpOptions): AnswerRoute {
  function secureBase({ host }: Exchange): string {
    if (baseUrl !== null) return new URL(baseUrl).origin
    const name = URL.parse(`http://${host}`)?.hostname ?? 'localhost'
    const port = httpsPort()
    return `https://${name}${port === 443 ? '' : `:${port}`}`
  }

  return (exchange) => {
    const { request, path } = exchange
    if (OPEN_PATHS.some((open) => path === open || (open.endsWith('/') && path.startsWith(open)))) {
      return answerRoute(exchange)
    }
    exchange.route = 'http'
    // Never redirect the API, so that a client with a wrong URL fails at once: others on the network can
    // already read what it has sent.
    if (isJsonPath(path)) {
      throw new DomainError('forbidden', `Nothing is handed over in the clear: use ${secureBase(exchange)}`)
    }
    return answerSeeOther(`${secureBase(exchange)}${afterHost(request.url)}`)
  }
}

/** Returns path and query as they were sent. */
function afterHost(url: string): string {
  const start = startOfPath(url)
  return start === -1 ? '/' : url.slice(start)
}
