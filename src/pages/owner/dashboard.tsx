// The owner's list of pushes: shows a page of it, and expires the selected pushes or marks them as seen.

import { nullIfMissing } from '../../domain/errors.ts'
import { isExpired } from '../../domain/push.ts'
import type { Now } from '../../domain/time.ts'
import type { PushDetails, Pushes } from '../../pushes/pushes.ts'
import type { Form } from '../frame/form.ts'
import { leadTo, type Member } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { ExpireQuestion } from './expire-question.tsx'
import { type ListQuery, listHref, readListQuery } from './list-query.ts'
import { ListView } from './list-view.tsx'

export type DashboardOptions = {
  answer: AnswerGuest
  pushes: Pick<Pushes, 'overview' | 'getOwned' | 'expireSelected' | 'markSeen'>
  now: Now
}

/** Upper bound for one form, above the size of a list page. */
const MAX_SELECTED = 200

export function createDashboard({ answer, pushes, now }: DashboardOptions) {
  async function show(guest: Member): Promise<Response> {
    const listQuery = readListQuery(guest.query)
    const overview = await pushes.overview(guest.account, listQuery)
    const time = now()
    const props = { listQuery: { ...listQuery, until: listQuery.until ?? time }, overview, now: time }
    const title = guest.say('pushes_title')
    return answer(<ListView guest={guest} {...props} />, { guest, title, script: 'lists', width: 'wide' })
  }

  /** Redirects back to the same page of the list, which shows a notice of the result. */
  async function change(guest: Member, form: Form): Promise<Response> {
    const listQuery = readListQuery(new URLSearchParams(form.text('list')))
    const only = form.text('only')
    const ticked = form.fields.flatMap(([name, value]) => (name === 'push' ? [value] : []))
    const selected = only === '' ? ticked : [only]
    const { account, viewer } = guest
    if (selected.length === 0) return leadBack(guest, listQuery, { done: 'none', n: 0 })
    if (only === '' && form.text('do') !== 'expire') {
      return leadBack(guest, listQuery, { done: 'seen', n: await pushes.markSeen(selected, account) })
    }
    if (form.text('sure') !== 'yes') return ask(guest, listQuery, selected)
    const expired = await pushes.expireSelected(selected, { account, visit: viewer.visit })
    return leadBack(guest, listQuery, { done: 'expired', n: expired })
  }

  /** Shows the question that names the selected pushes that are live. Expires nothing. */
  async function ask(guest: Member, listQuery: ListQuery, urlTokens: readonly string[]): Promise<Response> {
    const selected: PushDetails[] = []
    for (const urlToken of new Set(urlTokens.slice(0, MAX_SELECTED))) {
      const owned = await pushes.getOwned(urlToken, guest.account).catch(nullIfMissing)
      if (owned !== null && !isExpired(owned.push, now())) selected.push(owned)
    }
    if (selected.length === 0) return leadBack(guest, listQuery, { done: 'expired', n: 0 })
    const title = guest.say('pushes_expire_n', { n: selected.length })
    const question = <ExpireQuestion {...{ guest, title, listQuery, selected }} />
    return answer(question, { guest, title, width: 'narrow', languageSwitch: false })
  }

  return { show, change }
}

type ListResult = { done: 'expired' | 'seen' | 'none'; n: number }

function leadBack(guest: Member, listQuery: ListQuery, { done, n }: ListResult): Response {
  const address = listHref(listQuery)
  const result = done === 'seen' ? '' : `${address.includes('?') ? '&' : '?'}done=${done}&n=${n}`
  return leadTo(guest, `${address}${result}`)
}
