// From a table of routes to an Elysia app: viewers, HEAD, wrong methods, errors.

import { Elysia } from 'elysia'
import type { Viewer } from '../../domain/audit.ts'
import { DomainError } from '../../domain/errors.ts'
import type { PresentError } from './errors.ts'
import { type Exchange, exchangeOf } from './exchange.ts'
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

/** Every route with HEAD beside GET, and 405 for the methods that a known path does not have. */
export function createRouter({ routes, getViewer, presentError }: RouterOptions) {
  const app = new Elysia({ handler: { standardHostname: false } }).onError(({ error, code, request }) => {
    const cause = code === 'NOT_FOUND' ? new DomainError('not_found', 'not-found') : error
    return presentError(cause, exchangeOf(request), pathOf(request.url))
  })
  for (const { method, path, access, answer, head, detail } of routes) {
    const handler = enter({ path, access, answer, head: head ?? answer, getViewer })
    app.route(method, routedPath(path), handler, { parse: 'none', detail: detail ?? { hide: true } })
  }
  for (const [path, allow] of allowedMethods(routes)) {
    app.all(routedPath(path), ({ request }) => refuseMethod(request, path, allow), {
      parse: 'none',
      detail: { hide: true },
    })
  }
  return app
}

type Entrance = Required<Pick<Route, 'path' | 'access' | 'answer' | 'head'>> & { getViewer: GetViewer }

/**
 * Elysia reads which parts of its context a handler names; naming two keeps it from parsing the others.
 */
function enter({ path, access, answer, head, getViewer }: Entrance) {
  return ({ request, params }: { request: Request; params?: Record<string, string> }) => {
    const exchange = exchangeOf(request)
    exchange.route = path
    const respond = exchange.isHead ? head : answer
    return respond({ exchange, viewer: getViewer(exchange, access), params: params ?? {} })
  }
}

function refuseMethod(request: Request, path: string, allow: string): never {
  exchangeOf(request).route = path
  throw new DomainError('wrong_method', `This path knows ${allow}.`, { allow })
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
