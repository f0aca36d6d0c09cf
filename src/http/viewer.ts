// Who is asking: the API token of a request, if any, and the account behind it.

import type { Viewer } from '../domain/audit.ts'
import { DomainError } from '../domain/errors.ts'
import type { ApiTokens } from '../services/api-tokens.ts'
import { type Exchange, visitOf } from './exchange.ts'

/** open: tokens are not even looked at. visitor: a token is welcome. account: a token is needed. */
export type Access = 'open' | 'visitor' | 'account'

export type GetViewer = (exchange: Exchange, access: Access) => Viewer

export type ViewerOptions = {
  authenticate: ApiTokens['authenticate']
  anonymousAccess: boolean
  onError: (cause: unknown) => void
}

/** Throws `unauthenticated` for a token that is not valid, also where none is needed. */
export function createGetViewer({ authenticate, anonymousAccess, onError }: ViewerOptions): GetViewer {
  return (exchange, access) => {
    const visit = visitOf(exchange)
    if (access === 'open') return { account: null, visit }
    const apiToken = presentedToken(exchange.request.headers)
    if (apiToken === null) {
      if (access === 'account' || !anonymousAccess)
        throw refusal('An API token is needed: Authorization: Bearer …')
      return { account: null, visit }
    }
    const account = authenticate(apiToken, onError)
    if (account === null) throw refusal('The API token is not valid.')
    return { account, visit }
  }
}

/** Other schemes, such as a proxy's Basic, are not ours. */
function presentedToken(headers: Headers): string | null {
  const bearer = /^bearer(?:\s+(.*))?$/i.exec(headers.get('authorization')?.trim() ?? '')
  if (bearer !== null) return bearer[1]?.trim() ?? ''
  return headers.get('x-user-token')
}

function refusal(message: string): DomainError {
  return new DomainError('unauthenticated', message)
}
