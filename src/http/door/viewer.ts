// Identifies the caller of the API: the account of the request's API token, if there is one.

import { type ApiTokens, mentionsApiToken } from '../../accounts/api-tokens.ts'
import type { Account } from '../../domain/account.ts'
import type { Viewer } from '../../domain/audit.ts'
import { DomainError } from '../../domain/errors.ts'
import { readAuthorization } from './authorization.ts'
import { type Exchange, visitOf } from './exchange.ts'

/** A promise only for a request with a token. */
export type GetViewer = (exchange: Exchange, guard: 'visitor' | 'account') => Viewer | Promise<Viewer>

export type ViewerOptions = {
  authenticate: ApiTokens['authenticate']
  anonymousAccess: boolean
  onError: (cause: unknown) => void
}

/** Throws `unauthenticated` for an invalid token, also where no token is needed. */
export function createGetViewer(options: ViewerOptions): GetViewer {
  const { authenticate, anonymousAccess, onError } = options

  async function requireValid(apiToken: string): Promise<Account> {
    const account = await authenticate(apiToken, onError)
    if (account === null) throw refusal('The API token is not valid.')
    return account
  }

  /** Null when the header is missing, or is not an API token, such as a proxy's Basic credentials. */
  async function accountIn(authorization: string | null): Promise<Account | null> {
    if (authorization === null) return null
    const { words, isClaim } = readAuthorization(authorization)
    for (const word of words) {
      const account = await authenticate(word, onError)
      if (account !== null) return account
    }
    // Refuse an unusable token: ignoring it would silently create an anonymous push.
    if (isClaim || [authorization, ...words].some(mentionsApiToken)) {
      throw refusal('The API token is not valid, or in no scheme of ours: send Authorization: Bearer …')
    }
    return null
  }

  async function findAccount(headers: Headers): Promise<Account | null> {
    const account = await accountIn(headers.get('authorization'))
    if (account !== null) return account
    const apiToken = headers.get('x-user-token')
    return apiToken === null ? null : requireValid(apiToken)
  }

  return (exchange, guard) => {
    const { headers } = exchange.request
    const admit = (account: Account | null): Viewer => {
      if (account === null && (guard === 'account' || !anonymousAccess))
        throw refusal('An API token is needed: Authorization: Bearer …')
      return { account, visit: visitOf(exchange) }
    }
    const presentsToken = headers.has('authorization') || headers.has('x-user-token')
    return presentsToken ? findAccount(headers).then(admit) : admit(null)
  }
}

function refusal(message: string): DomainError {
  return new DomainError('unauthenticated', message)
}
