// From a refusal to an answer: the one table of statuses, JSON under /api and a page elsewhere.

import { DomainError, type ErrorCode, type FieldErrors } from '../domain/errors.ts'
import { type AnswerHeaders, answerJson, answerPage } from './answers.ts'
import type { Exchange } from './exchange.ts'
import { renderErrorPage } from './web/error-page.tsx'

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

export function createPresentError(logFailure: LogFailure): PresentError {
  return (cause, { requestId }, path) => {
    const asJson = path === '/api/v2' || path.startsWith('/api/')
    if (cause instanceof DomainError) return refuse(cause, asJson)
    logFailure({ requestId, cause })
    const body = { error: 'internal-error', request_id: requestId }
    return asJson
      ? answerJson(500, body)
      : answerPage(500, renderErrorPage(500, `Request ${requestId} failed.`))
  }
}

function refuse(error: DomainError, asJson: boolean): Response {
  const status = STATUS[error.code]
  const headers = headersOf(error)
  if (!asJson) return answerPage(status, renderErrorPage(status, error.message), headers)
  return answerJson(status, { error: error.message, ...error.details.fields }, headers)
}

function headersOf({ code, details }: DomainError): AnswerHeaders {
  return {
    ...(code === 'unauthenticated' ? { 'www-authenticate': 'Bearer' } : {}),
    ...(details.allow === undefined ? {} : { allow: details.allow }),
    ...(details.retryAfter === undefined ? {} : { 'retry-after': String(details.retryAfter) }),
    ...(ENDS_CONNECTION.has(code) ? { connection: 'close' } : {}),
  }
}

/** All the fields at fault at once: one sentence for people, one member for each field. */
export function invalidFields(fields: FieldErrors): DomainError {
  const sentences = Object.entries(fields).flatMap(([field, messages]) =>
    messages.map((message) => `${humanize(field)} ${message}`),
  )
  return new DomainError('invalid', sentences.join(', '), { fields })
}

function humanize(field: string): string {
  const words = field.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
