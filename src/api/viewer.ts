// Identifies the caller of the API: the account of the request's API token, if there is one.

import { type ApiTokens, type Authenticated, mentionsApiToken } from '../accounts/api-tokens.ts'
import type { Account } from '../domain/account.ts'
import type { Viewer } from '../domain/audit.ts'
import { DomainError } from '../domain/errors.ts'
import { type Exchange, visitOf } from '../http/door/exchange.ts'

/** `tokenId` is the token that was presented; null without one. */
export type ApiViewer = Viewer & { tokenId: number | null }

/** A promise only for a request with a token. */
export type GetViewer = (exchange: Exchange, guard: Guard) => ApiViewer | Promise<ApiViewer>

type Guard = 'visitor' | 'account'

export type ViewerOptions = {
  authenticate: ApiTokens['authenticate']
  anonymousAccess: boolean
  onError: (cause: unknown) => void
}

/** Throws `unauthenticated` for an invalid token, also where no token is needed. */
export function createGetViewer(options: ViewerOptions): GetViewer {
  const { authenticate, anonymousAccess, onError } = options

  async function requireValid(apiToken: string): Promise<Authenticated> {
    const found = await authenticate(apiToken, onError)
    if (found === null) throw refusal('The API token is not valid.')
    return found
  }

  /** Null when the header is missing, or is not an API token, such as a proxy's Basic credentials. */
  async function findIn(authorization: string | null): Promise<Authenticated | null> {
    if (authorization === null) return null
    const { words, isClaim } = readAuthorization(authorization)
    for (const word of words) {
      const found = await authenticate(word, onError)
      if (found !== null) return found
    }
    // Refuse an unusable token: ignoring it would silently create an anonymous push.
    if (isClaim || [authorization, ...words].some(mentionsApiToken)) {
      throw refusal('The API token is not valid, or in no scheme of ours: send Authorization: Bearer …')
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
    const presentsToken = headers.has('authorization') || headers.has('x-user-token')
    return presentsToken ? identify(exchange, guard) : admit(null, exchange, guard)
  }
}

/** Of a route whose guard admits accounts alone. */
export function requireAccount({ account }: Viewer): Account {
  if (account === null) throw new Error('the guard of this route admits visitors')
  return account
}

function refusal(message: string): DomainError {
  return new DomainError('unauthenticated', message)
}

// Reads the Authorization header: the words that may be an API token, in every scheme that clients use.

export type Authorization = {
  /** Each may be the token; the first valid one counts. */
  words: string[]
  /** Whether the scheme says that this is an API token, so that an invalid one is refused. */
  isClaim: boolean
}
/**
 * Bearer (RFC 6750), `Token …` and `Token token=…` (as Rails reads them), Basic (RFC 7617) with the token in
 * any of its places, and the token alone. Other schemes, such as Digest, have no words.
 */
export function readAuthorization(header: string | null): Authorization {
  const value = header?.trim() ?? ''
  const [scheme = ''] = value.split(/\s/, 1)
  const rest = value.slice(scheme.length).trim()
  switch (scheme.toLowerCase()) {
    case '':
      return { words: [], isClaim: false }
    case 'bearer':
      return { words: [rest], isClaim: true }
    case 'token':
      return { words: [tokenParameter(rest) ?? rest], isClaim: true }
    case 'basic':
      return { words: wordsOfBasic(rest), isClaim: false }
    default:
      return { words: rest === '' ? [value] : [], isClaim: false }
  }
}
/** Returns abc for `token="abc", nonce="def"`. */
function tokenParameter(parameters: string): string | null {
  return /(?:^|[\s,;])token\s*=\s*"?([^\s",;]*)/i.exec(parameters)?.[1] ?? null
}
/**
 * User and password, or the only word; last the undecoded word, since some clients do not encode the token.
 */
function wordsOfBasic(credentials: string): string[] {
  const decoded = Buffer.from(credentials, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  const words = colon === -1 ? [decoded] : [decoded.slice(0, colon), decoded.slice(colon + 1)]
  return [...words, credentials].map((word) => word.trim()).filter((word) => word !== '')
}
