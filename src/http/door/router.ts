// From a table of routes to an Elysia app: viewers, HEAD, wrong methods, errors.

import { Elysia } from 'elysia'
import type { Viewer } from '../../domain/audit.ts'
import { DomainError } from '../../domain/errors.ts'
import type { PresentError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { pathOf, routedPath } from './paths.ts'
import type { Access, GetViewer } from './viewer.ts'

export type Asked = { exchange: Exchange; viewer: Viewer; params: Partial<Record<string, string>> }

export type Route = {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  access: Access
  answer: (asked: Asked) => Response | Promise<Response>
  /** What HEAD answers where running the GET would do something. */
  head?: (asked: Asked) => Response | Promise<Response>
  /** The OpenAPI operation; without one the route is not in the reference. */
  detail?: object
}

export type RouterOptions = { routes: readonly Route[]; getViewer: GetViewer; presentError: PresentError }

/** Finds the route for `exchange.request` and answers with it. */
export type AnswerRoute = (exchange: Exchange) => Response | Promise<Response>

/** Every route with HEAD beside GET, and 405 for the methods that a known path does not have. */
export function createRouter({ routes, getViewer, presentError }: RouterOptions) {
  // Elysia hands a request to its handlers and nothing besides, so the exchange is found by it: here and nowhere deeper.
  const exchanges = new WeakMap<Request, Exchange>()

  function exchangeOf(request: Request): Exchange {
    const exchange = exchanges.get(request)
    if (exchange === undefined) throw new Error('a request reached a route without passing the front door')
    return exchange
  }

  const app = new Elysia({ handler: { standardHostname: false } }).onError(({ error, code, request }) => {
    const cause = code === 'NOT_FOUND' ? new DomainError('not_found', 'not-found') : error
    return presentError(cause, exchangeOf(request), pathOf(request.url))
  })
  for (const { method, path, access, answer, head = answer, detail = { hide: true } } of routes) {
    // Elysia reads in this code which parts of its context a handler names, and prepares those alone.
    const handler = ({ request, params }: { request: Request; params?: Record<string, string> }) => {
      const exchange = exchangeOf(request)
      exchange.route = path
      const respond = exchange.isHead ? head : answer
      return respond({ exchange, viewer: getViewer(exchange, access), params: params ?? {} })
    }
    app.route(method, routedPath(path), handler, { parse: 'none', detail })
  }
  for (const [path, allow] of allowedMethods(routes)) {
    const refuse = ({ request }: { request: Request }) => {
      exchangeOf(request).route = path
      throw new DomainError('wrong_method', `This path knows ${allow}.`, { allow })
    }
    app.all(routedPath(path), refuse, { parse: 'none', detail: { hide: true } })
  }

  const answerRoute: AnswerRoute = (exchange) => {
    exchanges.set(exchange.request, exchange)
    return app.fetch(exchange.request)
  }

  return { app, answerRoute }
}

function allowedMethods(routes: readonly Route[]): Map<string, string> {
  const allowed = new Map<string, string>()
  for (const { path, method } of routes) {
    const methods = method === 'GET' ? 'GET, HEAD' : method
    const others = allowed.get(path)
    allowed.set(path, others === undefined ? methods : `${others}, ${methods}`)
  }
  return allowed
}
