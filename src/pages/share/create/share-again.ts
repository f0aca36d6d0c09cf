// "Share again like this": fills a new form with the settings of an own push, never with its content or passphrase. The
// address of the form contains only the token of the push, so that no name ends up in the log of a proxy.

import { nullIfMissing } from '../../../domain/errors.ts'
import { DURATIONS } from '../../../domain/new-push.ts'
import type { Labelled } from '../../../pushes/owner-lists.ts'
import type { Pushes } from '../../../pushes/pushes.ts'
import type { Guest } from '../../frame/guest.ts'

const PARAMETER = 'like'

/** `query` has the names of the API. */
export type Again = { query: URLSearchParams; pushed: Labelled }

export type FindAgain = (guest: Guest) => Promise<Again | null>

export function createFindAgain({ getOwned }: Pick<Pushes, 'getOwned'>): FindAgain {
  return async ({ query, session }) => {
    const urlToken = query.get(PARAMETER)
    if (urlToken === null || session === null) return null
    const pushed = await getOwned(urlToken, session.account).catch(nullIfMissing)
    return pushed && { query: settingsOf(pushed), pushed }
  }
}

function settingsOf({ push, name, note }: Labelled): URLSearchParams {
  const { kind, createdAt, expiresAt, expireAfterDays, expireAfterViews, retrievalStep, deletableByViewer } =
    push
  const duration = DURATIONS.indexOf(expiresAt - createdAt)
  const settings: [string, string | number | boolean | null][] = [
    ['kind', kind],
    ['name', name],
    ['note', note],
    ['expire_after_days', expireAfterDays],
    ['expire_after_duration', duration === -1 ? null : duration],
    ['expire_after_views', expireAfterViews],
    ['retrieval_step', retrievalStep],
    ['deletable_by_viewer', deletableByViewer],
  ]
  const given = settings.flatMap(([field, value]) => (value === null ? [] : [[field, String(value)]]))
  return new URLSearchParams(given)
}
