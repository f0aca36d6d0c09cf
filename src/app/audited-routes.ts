// The routes whose refusals --audit-log records.

import { API, type Endpoint, PAGES, PREVIOUS_FAMILIES, routeKey } from '../http/urls.ts'
import type { AuditAction } from '../operating/audit-trail.ts'
import type { Act } from './audit-acts.ts'

/** Headers that present an API token. */
export const TOKEN_HEADERS = ['authorization', 'x-user-token']
/** The page of a request. */
export const REQUEST_PAGE = routeKey(PAGES.answer)
const FAMILIES = Object.values(PREVIOUS_FAMILIES)

const REFUSED_URLS: readonly [AuditAction, ...Endpoint[]][] = [
  ['push-create', API.create, PAGES.submitCreate, PAGES.share, ...FAMILIES.map(({ create }) => create)],
  ['push-open', API.retrieve, PAGES.reveal, PAGES.revealStep, ...FAMILIES.map(({ retrieve }) => retrieve)],
  ['push-expire', API.expire, PAGES.expire, PAGES.expireOwn, ...FAMILIES.map(({ expire }) => expire)],
  ['push-edit', API.edit, PAGES.editPush],
  ['push-mail', API.notify],
  ['push-unlock', PAGES.unlock],
  ['push-open', PAGES.readAnswer],
  ['request-create', API.createRequest, PAGES.ask],
  ['request-answer', API.answer, PAGES.submitAnswer],
  ['request-close', API.closeRequest, PAGES.closeRequest],
]

/** The action that a refusal belongs to, by method and path. */
export const REFUSED_ACTIONS: ReadonlyMap<string, AuditAction> = new Map(
  REFUSED_URLS.flatMap(([action, ...urls]) => urls.map((url) => [routeKey(url), action] as const)),
)

export function statusOf(status: number): Pick<Act, 'outcome' | 'reason'> {
  return status < 400 ? { outcome: 'success' } : { outcome: 'failure', reason: `status_${status}` }
}
