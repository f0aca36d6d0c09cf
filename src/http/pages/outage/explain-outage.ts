// How a form is answered while the store is away: status, headers, and what happened in the words of the page.

import type { DomainError, OutageCode } from '../../../domain/errors.ts'
import type { WordKey } from '../../../words/words.ts'
import type { AnswerHeaders } from '../../door/answers.ts'

/** An error of which `isOutage` is true. */
export type OutageError = DomainError & { code: OutageCode }

export type Explained = { status: number; headers: AnswerHeaders; happened: WordKey }

/** Seconds until another try is worth it, where the error does not say. */
const RETRY_AFTER: Record<OutageCode, number> = { overloaded: 1, files_unreachable: 5, disk_full: 30 }

/** A full store is told with 503 too, because the form comes back and can be sent again once there is room. */
export function explainOutage({ code, details }: OutageError): Explained {
  const { retryAfter = RETRY_AFTER[code] } = details
  return { status: 503, headers: { 'retry-after': String(retryAfter) }, happened: `outage_${code}` }
}
