// The parameters of the API in paths, queries and headers: how they are read, and how the reference shows
// them.

import { MAX_PAGE } from '../domain/audit.ts'
import { DomainError } from '../domain/errors.ts'
import { type Exchange, findInQuery } from '../http/door/exchange.ts'
import type { RouteRequest } from '../http/door/router.ts'
import { type TSchema, Type } from '../http/intake/members.ts'
import { KEY_LENGTH } from '../pushes/idempotency.ts'

/** The format of tokens: those of this server, and those that imported pushes keep. */
export const URL_TOKEN = {
  pattern: '^([0-9a-hjkmnp-tv-z]{26}|[a-z0-9_-]{11,19})$',
  example: '7k3m9qx2vn4t8bw5hj6r0yzacd',
}

export type ApiParameter = {
  name: string
  in: string
  required?: boolean
  description: string
  schema: TSchema
}

const inPath = (name: string) => ({ name, in: 'path', required: true })
const inQuery = (name: string) => ({ name, in: 'query' })
const inHeader = (name: string) => ({ name, in: 'header' })

/** The parameters in paths, by their names in urls.ts. */
export const PATH_PARAMETERS: readonly ApiParameter[] = [
  { ...inPath('url_token'), description: 'The token of the push.', schema: Type.String(URL_TOKEN) },
  { ...inPath('id'), description: 'The id of the webhook.', schema: Type.Integer({ minimum: 1 }) },
]

/**
 * A percent-encoded character of UTF-8 (RFC 3629, 4). T stands for a continuation byte, X for a hex digit.
 */
const ESCAPED =
  '%[0-7]X|%(?:[Cc][2-9A-Fa-f]|[Dd]X)T|%[Ee](?:0%[ABab]X|[1-9A-CEFa-cef]T|[Dd]%[89]X)T|%[Ff](?:0%[9ABab]X|[1-3]T|4%8X)TT'
    .replaceAll('T', '%[89ABab]X')
    .replaceAll('X', '[0-9A-Fa-f]')

export const PARAMETERS = {
  page: {
    ...inQuery('page'),
    description: '50 entries a page.',
    schema: Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: 1 }),
  },
  before: {
    ...inQuery('before'),
    description:
      'The token of one of your pushes: only older ones are listed. Pages that follow each other by the last token of the one before miss nothing that expires meanwhile, and go beyond page 200.',
    schema: Type.String(URL_TOKEN),
  },
  after: {
    ...inQuery('after'),
    description:
      '`next` of the answer before: only later events are listed. Without it, or with 0, all that are kept. 410 when events after it are not kept any more, and for a number that was never given.',
    schema: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  },
  wait: {
    ...inQuery('wait'),
    description: 'Seconds to wait for an event when there is none yet.',
    schema: Type.Integer({ minimum: 0, maximum: 25, default: 0 }),
  },
  passphraseHeader: {
    ...inHeader('X-Push-Passphrase'),
    description:
      'The passphrase, percent-encoded UTF-8. Better than the query parameter, which histories keep.',
    schema: Type.String({ pattern: `^(?:[ -$&-~]|${ESCAPED})*$` }),
  },
  passphrase: { ...inQuery('passphrase'), description: 'The passphrase.', schema: Type.String() },
  idempotencyKey: {
    ...inHeader('Idempotency-Key'),
    description: `Makes it safe to repeat a create whose answer was lost: for 24 hours the same key with the same fields answers as the first time and creates nothing. With other fields it is 422. ${KEY_LENGTH.min} to ${KEY_LENGTH.max} printable characters, random, a new one for each push. A key belongs to the account, or without one to the address.`,
    // Gives no example, because programs would copy it and all send the same key.
    schema: Type.String({
      minLength: KEY_LENGTH.min,
      maxLength: KEY_LENGTH.max,
      pattern: '^[!-~]([ -~]*[!-~])?$',
    }),
  },
} satisfies Record<string, ApiParameter>

export function readUrlToken({ params }: Pick<RouteRequest, 'params'>): string {
  return params.url_token ?? ''
}

/**
 * Returns null if no passphrase was given. Prefers the header, because browsers and other programs store or
 * log URLs with their queries.
 */
export function readPassphrase(exchange: Exchange): string | null {
  const header = exchange.request.headers.get(PARAMETERS.passphraseHeader.name)
  const passphrase =
    header === null ? findInQuery(exchange, PARAMETERS.passphrase.name) : decodeHeader(header)
  return passphrase === '' ? null : passphrase
}

function decodeHeader(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    throw new DomainError('malformed', 'X-Push-Passphrase must be percent-encoded UTF-8.')
  }
}

/** Returns the cursor of the page; null if none was given. */
export function readBefore(exchange: Exchange): string | null {
  return findInQuery(exchange, PARAMETERS.before.name) || null
}

/** Reads the page number. An empty one means page 1. */
export function readPage(exchange: Exchange): number {
  return readNumber(exchange, PARAMETERS.page) ?? 1
}

type InQuery = { name: string; schema: { minimum?: number; maximum?: number } }

/** Returns null if none was given. Throws `malformed` unless it is an integer in its range. */
export function readNumber(exchange: Exchange, { name, schema }: InQuery): number | null {
  const text = findInQuery(exchange, name) || null
  if (text === null) return null
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema
  const number = /^\d{1,16}$/.test(text) ? Number(text) : -1
  if (number >= minimum && number <= maximum) return number
  throw new DomainError('malformed', `${name} must be between ${minimum} and ${maximum}`)
}
