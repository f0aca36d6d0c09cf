// From a refusal to an answer: the one table of statuses, JSON for the API and a page elsewhere.

import { DomainError, type ErrorCode } from '../domain/errors.ts'
import { type AnswerHeaders, answerJson, answerPage } from './answers.ts'
import type { Exchange } from './exchange.ts'
import { isJsonPath } from './paths.ts'
import { ERROR_PAGE_POLICY, renderErrorPage } from './web/error-page.tsx'

const STATUS: Record<ErrorCode, number> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  wrong_method: 405,
  too_slow: 408,
  conflict: 409,
  too_large: 413,
  unsupported_type: 415,
  unknown_host: 421,
  invalid: 422,
  too_many: 429,
  overloaded: 503,
  disk_full: 507,
}

/** After these the rest of the request's body is not read, so the connection cannot go on. */
const ENDS_CONNECTION: ReadonlySet<ErrorCode> = new Set(['too_slow', 'too_large', 'unsupported_type'])

export type LogFailure = (failure: { requestId: string; cause: unknown }) => void

export type PresentError = (cause: unknown, exchange: Exchange, path: string) => Response

export type PresentErrorOptions = { logFailure: LogFailure; stylesheet: string }

export function createPresentError({ logFailure, stylesheet }: PresentErrorOptions): PresentError {
  return (cause, { requestId }, path) => {
    const asJson = isJsonPath(path)
    if (cause instanceof DomainError) return asJson ? refuse(cause) : refusePage(cause, stylesheet)
    logFailure({ requestId, cause })
    if (asJson) return answerJson(500, { error: 'internal-error', request_id: requestId })
    const page = { status: 500, message: `Request ${requestId} failed; the cause is in the log.`, stylesheet }
    return answerPage(500, renderErrorPage(page), { policy: ERROR_PAGE_POLICY })
  }
}

function refuse(error: DomainError): Response {
  return answerJson(STATUS[error.code], { error: error.message, ...error.details.fields }, headersOf(error))
}

function refusePage(error: DomainError, stylesheet: string): Response {
  const status = STATUS[error.code]
  const html = renderErrorPage({ status, message: error.message, stylesheet })
  return answerPage(status, html, { policy: ERROR_PAGE_POLICY, ...headersOf(error) })
}

function headersOf({ code, details }: DomainError): AnswerHeaders {
  return {
    ...(code === 'unauthenticated' ? { 'www-authenticate': 'Bearer' } : {}),
    ...(details.allow === undefined ? {} : { allow: details.allow }),
    ...(details.retryAfter === undefined ? {} : { 'retry-after': String(details.retryAfter) }),
    ...(ENDS_CONNECTION.has(code) ? { connection: 'close' } : {}),
  }
}
