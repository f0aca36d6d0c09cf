// Builds the Elysia app from the table of routes, with HEAD, 405 and errors.

import { Elysia } from 'elysia'
import { DomainError, notFound } from '../../domain/errors.ts'
import { type Endpoint, type Method, routeKey } from '../urls.ts'
import type { PresentError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { pathOf, routedPath } from './paths.ts'

export type RouteRequest = { exchange: Exchange; params: Partial<Record<string, string>> }

export type Answer = Response | Promise<Response>

export type Handlers = {
  /** Enforces the guard of the URL first. */
  answer: (asked: RouteRequest) => Answer
  /** Answers HEAD where running the GET would have effects. */
  head?: (asked: RouteRequest) => Answer
}

export type Route = Handlers & { url: Endpoint }

/**
 * One controller for each URL of a map. Does not compile if a URL has no controller, or one that does not
 * enforce its guard. Null leaves a URL out on this server.
 */
type Controllers<Urls> = { [Name in keyof Urls]: ((url: Urls[Name]) => Handlers) | null }

/** Returns a controller for URLs without a guard. */
export function open(answer: Handlers['answer']) {
  return (_url: Endpoint<Method, 'open'>): Handlers => ({ answer })
}

/** Returns the routes of a map of URLs, in the order of the map. */
export function routesOf<Urls extends Record<keyof Urls, Endpoint>>(
  urls: Urls,
  controllers: Controllers<Urls>,
): Route[] {
  const routeOf = <Name extends keyof Urls>(name: Name): Route[] => {
    const controller = controllers[name]
    return controller === null ? [] : [{ url: urls[name], ...controller(urls[name]) }]
  }
  return (Object.keys(urls) as (keyof Urls)[]).flatMap(routeOf)
}

type RouterOptions = {
  routes: readonly Route[]
  /**
   * The only URLs of this router; all others answer 404, even for wrong methods. If absent, all routes exist.
   */
  only?: readonly Endpoint[] | undefined
  presentError: PresentError
}

/** Finds the route for `exchange.path` and answers with it. */
export type AnswerRoute = (exchange: Exchange) => Answer

/** Makes a router that serves HEAD beside GET, and answers 405 for methods that a known path lacks. */
export function createRouter({ routes, only, presentError }: RouterOptions): AnswerRoute {
  const known = only && new Set(only.map(routeKey))
  // Elysia hands its handlers only the request, so its exchange is looked up here.
  const exchanges = new WeakMap<Request, Exchange>()

  function exchangeOf(request: Request): Exchange {
    const exchange = exchanges.get(request)
    if (exchange === undefined) throw new Error('a request reached a route without passing the front door')
    return exchange
  }

  // The front door has already removed a trailing slash.
  const settings = { strictPath: true, handler: { standardHostname: false } }
  const app = new Elysia(settings).onError(({ error, code, request }) => {
    const cause = code === 'NOT_FOUND' ? notFound() : error
    return presentError(cause, exchangeOf(request))
  })
  for (const [path, methods] of byPath(routes)) {
    // Name the parameters here: Elysia reads the source of a handler, and prepares only the parts of the
    // context that it names.
    const handler = ({ request, params }: { request: Request; params?: Record<string, string> }) => {
      const exchange = exchangeOf(request)
      const route = methods.get(request.method)
      // Keep hidden routes in the table. Otherwise a pattern would match their paths: /f/new is not an older
      // link.
      if (known !== undefined && !(route && known.has(routeKey(route.url)))) throw notFound()
      exchange.route = path
      if (route === undefined) throw wrongMethod(methods)
      const { answer, head = answer } = route
      const respond = exchange.isHead ? head : answer
      return respond({ exchange, params: params ?? {} })
    }
    // Register one route per path, and find the method in its handler: Elysia needs 3 KiB for each of its
    // routes.
    app.all(routedPath(path), handler, { parse: 'none' })
  }

  return (exchange) => {
    const request = routedRequest(exchange)
    exchanges.set(request, exchange)
    return app.fetch(request)
  }
}

/**
 * Returns a request with the canonical path, and GET for HEAD: Elysia's own HEAD reads the whole body to
 * compute its length.
 */
function routedRequest({ request, path, isHead }: Exchange): Request {
  const { url, method } = request
  if (!isHead && url.startsWith('http:') && pathOf(url) === path) return request
  // Build a URL from the path alone, because the client's Host may not be valid in a URL.
  return new Request(`http://localhost${path}`, { method: isHead ? 'GET' : method })
}

/** The routes of one path, by method. */
type Methods = ReadonlyMap<string, Route>

function byPath(routes: readonly Route[]): Map<string, Methods> {
  const paths = Map.groupBy(routes, ({ url }) => url.path)
  return new Map(
    [...paths].map(([path, own]) => [path, new Map(own.map((route) => [route.url.method, route]))]),
  )
}

function wrongMethod(methods: Methods): DomainError {
  const allow = [...methods.keys()].map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ')
  return new DomainError('wrong_method', `This path knows ${allow}.`, { allow })
}
