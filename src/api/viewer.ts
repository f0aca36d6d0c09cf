// Identifies the caller of the API: the account of the request's API token, if there is one.

import { type ApiTokens, type Authenticated, mentionsApiToken } from '../accounts/api-tokens.ts'
import type { Account } from '../domain/account.ts'
import type { Viewer } from '../domain/audit.ts'
import { DomainError } from '../domain/errors.ts'
import { type Exchange, visitOf } from '../http/door/exchange.ts'
import type { Answer, Handlers, RouteRequest } from '../http/door/router.ts'
import type { Endpoint, Method } from '../http/urls.ts'
import { readAuthorization } from './authorization.ts'

/** `tokenId`: the presented token; null without one. */
type ApiViewer = Viewer & { tokenId: number | null }

/** A request of the API, with the viewer whose token it carries. */
export type ApiRequest = RouteRequest & { viewer: ApiViewer }

type ApiHandler = (asked: ApiRequest) => Answer

/** Returns a promise only if the request presents a token. */
export type GetViewer = (exchange: Exchange, guard: Guard) => ApiViewer | Promise<ApiViewer>

type Guard = 'visitor' | 'account'

type ViewerOptions = {
  authenticate: ApiTokens['authenticate']
  anonymousAccess: boolean
  onError: (cause: unknown) => void
}

/** Throws `unauthenticated` for an invalid token, even where no token is needed. */
export function createGetViewer(options: ViewerOptions): GetViewer {
  const { authenticate, anonymousAccess, onError } = options

  async function requireValid(apiToken: string): Promise<Authenticated> {
    const found = await authenticate(apiToken, onError)
    if (found === null) throw refusal('The API token is not valid.')
    return found
  }

  /**
   * Returns null if the header is missing or holds something else than an API token, such as a proxy's Basic
   * credentials.
   */
  async function findIn(authorization: string | null): Promise<Authenticated | null> {
    if (authorization === null) return null
    const { words, isClaim } = readAuthorization(authorization)
    for (const word of words) {
      const found = await authenticate(word, onError)
      if (found !== null) return found
    }
    // Refuse an unusable token: ignoring it would silently create an anonymous push.
    if (isClaim || [authorization, ...words].some(mentionsApiToken)) {
      throw refusal(
        'The API token is not valid, or sent in an unsupported scheme. Send: Authorization: Bearer TOKEN',
      )
    }
    return null
  }

  async function find(headers: Headers): Promise<Authenticated | null> {
    const found = await findIn(headers.get('authorization'))
    if (found !== null) return found
    const apiToken = headers.get('x-user-token')
    return apiToken === null ? null : requireValid(apiToken)
  }

  function admit(found: Authenticated | null, exchange: Exchange, guard: Guard): ApiViewer {
    if (found === null && (guard === 'account' || !anonymousAccess))
      throw refusal('An API token is needed: Authorization: Bearer …')
    return { account: found?.account ?? null, tokenId: found?.tokenId ?? null, visit: visitOf(exchange) }
  }

  async function identify(exchange: Exchange, guard: Guard): Promise<ApiViewer> {
    return admit(await find(exchange.request.headers), exchange, guard)
  }

  return (exchange, guard) => {
    const { headers } = exchange.request
    // Tokens are not even looked up on the listener for recipients.
    if (exchange.isOutside) return admit(null, exchange, guard)
    const presentsToken = headers.has('authorization') || headers.has('x-user-token')
    return presentsToken ? identify(exchange, guard) : admit(null, exchange, guard)
  }
}

/** Makes controllers that identify the viewer by the API token before they answer. */
export function createByToken(getViewer: GetViewer) {
  return (answer: ApiHandler, head = answer) =>
    ({ guard }: Endpoint<Method, Guard>): Handlers => {
      const identified = (respond: ApiHandler) => (asked: RouteRequest) => {
        const viewer = getViewer(asked.exchange, guard)
        if (viewer instanceof Promise) return viewer.then((found) => respond({ ...asked, viewer: found }))
        return respond({ ...asked, viewer })
      }
      return { answer: identified(answer), head: identified(head) }
    }
}

export type ByToken = ReturnType<typeof createByToken>

/** Returns the account. Call it only behind the guard `account`. */
export function requireAccount({ account }: Viewer): Account {
  if (account === null) throw new Error('the guard of this route admits visitors')
  return account
}

function refusal(message: string): DomainError {
  return new DomainError('unauthenticated', message)
}
