// Who is asking: the API token of a request, if any, and the account behind it.

import type { Account } from '../../domain/account.ts'
import type { Viewer } from '../../domain/audit.ts'
import { DomainError } from '../../domain/errors.ts'
import { type ApiTokens, mentionsApiToken } from '../../services/accounts/api-tokens.ts'
import { readAuthorization } from './authorization.ts'
import { type Exchange, visitOf } from './exchange.ts'

export type GetViewer = (exchange: Exchange, guard: 'visitor' | 'account') => Viewer

export type ViewerOptions = {
  authenticate: ApiTokens['authenticate']
  anonymousAccess: boolean
  onError: (cause: unknown) => void
}

/** Throws `unauthenticated` for a token that is not valid, also where none is needed. */
export function createGetViewer(options: ViewerOptions): GetViewer {
  const { authenticate, anonymousAccess, onError } = options

  function requireValid(apiToken: string): Account {
    const account = authenticate(apiToken, onError)
    if (account === null) throw refusal('The API token is not valid.')
    return account
  }

  /** Null when the header is missing or somebody else's, such as the Basic of a proxy. */
  function accountIn(authorization: string | null): Account | null {
    if (authorization === null) return null
    const { words, isClaim } = readAuthorization(authorization)
    for (const word of words) {
      const account = authenticate(word, onError)
      if (account !== null) return account
    }
    // A token that we cannot use is refused: passing it over would make an anonymous push without a word.
    if (isClaim || [authorization, ...words].some(mentionsApiToken)) {
      throw refusal('The API token is not valid, or in no scheme of ours: send Authorization: Bearer …')
    }
    return null
  }

  function findAccount(headers: Headers): Account | null {
    const account = accountIn(headers.get('authorization'))
    if (account !== null) return account
    const apiToken = headers.get('x-user-token')
    return apiToken === null ? null : requireValid(apiToken)
  }

  return (exchange, guard) => {
    const account = findAccount(exchange.request.headers)
    if (account === null && (guard === 'account' || !anonymousAccess))
      throw refusal('An API token is needed: Authorization: Bearer …')
    return { account, visit: visitOf(exchange) }
  }
}

function refusal(message: string): DomainError {
  return new DomainError('unauthenticated', message)
}
