// Turns an error into an answer: one table of statuses; JSON for the API and a page elsewhere.

import {
  DomainError,
  type ErrorCode,
  type ErrorDetails,
  isOutage,
  type OutageCode,
  type OutageError,
} from '../../domain/errors.ts'
import { isExhaustion } from '../../domain/system-errors.ts'
import { type AnswerHeaders, answerJson } from '../answers.ts'
import type { Exchange } from './exchange.ts'
import { isJsonWanted } from './paths.ts'

const STATUS: Record<ErrorCode, number> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  other_site: 403,
  not_found: 404,
  gone: 410,
  wrong_method: 405,
  too_slow: 408,
  conflict: 409,
  too_large: 413,
  unsupported_type: 415,
  unknown_host: 421,
  invalid: 422,
  too_many: 429,
  too_many_mails: 429,
  overloaded: 503,
  files_unreachable: 503,
  disk_full: 507,
}

/** Seconds until a retry makes sense, unless the error says otherwise. */
const RETRY_AFTER: Record<OutageCode, number> = { overloaded: 1, files_unreachable: 5, disk_full: 30 }

/** Refusals after which the rest of the body is not read, so that the connection must be closed. */
const ENDS_CONNECTION: ReadonlySet<ErrorCode> = new Set(['too_slow', 'too_large', 'unsupported_type'])

export type HttpRefusal = {
  status: number
  /** The code of the refusal; null for an unexpected failure. */
  code: ErrorCode | null
  headers: AnswerHeaders
  /** Whether the outcome is unknown: the change may have happened. */
  isInDoubt: boolean
  /** The refused host name, and the flags that make it a name of this server. */
  host?: ErrorDetails['host'] | undefined
}

/** Answers a refusal with a page. */
export type AnswerRefusal = (exchange: Exchange, refusal: HttpRefusal) => Promise<Response>

type LogFailure = (failure: { requestId: string; cause: unknown }) => void

export type PresentError = (cause: unknown, exchange: Exchange) => Response | Promise<Response>

type PresentErrorOptions = {
  logFailure: LogFailure
  answerRefusal: AnswerRefusal
  /** Called with the code of every refusal, or with `failure` for an unexpected error. */
  onRefused?: (code: ErrorCode | 'failure') => void
}

export function createPresentError(options: PresentErrorOptions): PresentError {
  const { logFailure, answerRefusal, onRefused } = options
  return (thrown, exchange) => {
    const { requestId } = exchange
    const isJson = isJsonWanted(exchange)
    if (!(thrown instanceof DomainError)) logFailure({ requestId, cause: thrown })
    const cause = isExhaustion(thrown) ? exhausted() : thrown
    if (!(cause instanceof DomainError)) {
      onRefused?.('failure')
      if (isJson) return answerJson(500, { error: 'internal-error', request_id: requestId })
      return answerRefusal(exchange, { status: 500, code: null, headers: {}, isInDoubt: false })
    }
    const { code, message, details } = cause
    const { fields, isInDoubt = false, host } = details
    const headers = headersOf(cause)
    const ofPassphrase = details.passphrase === undefined ? {} : { message, status: 'unauthorized' }
    onRefused?.(code)
    if (isJson) return answerJson(STATUS[code], { error: message, ...fields, ...ofPassphrase }, headers)
    // On pages a full disk is a 503: retry once there is room. The API reports it as 507.
    const status = isOutage(cause) ? 503 : STATUS[code]
    return answerRefusal(exchange, { status, code, headers, isInDoubt, host })
  }
}

function exhausted(): DomainError {
  return new DomainError('overloaded', 'The server is busy; try again in a moment.', { retryAfter: 5 })
}

/** Returns `Retry-After` for an outage. */
export function outageHeaders({ code, details }: OutageError): AnswerHeaders {
  return { 'retry-after': String(details.retryAfter ?? RETRY_AFTER[code]) }
}

function headersOf(error: DomainError): AnswerHeaders {
  const { code, details } = error
  return {
    ...(code === 'unauthenticated' ? { 'www-authenticate': 'Bearer' } : {}),
    ...(details.allow === undefined ? {} : { allow: details.allow }),
    ...(details.retryAfter === undefined ? {} : { 'retry-after': String(details.retryAfter) }),
    ...(isOutage(error) ? outageHeaders(error) : {}),
    ...(ENDS_CONNECTION.has(code) ? { connection: 'close' } : {}),
  }
}
