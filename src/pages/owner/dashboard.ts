// The owner's list of pushes: shows a page of it, and expires or marks the pushes that are selected.

import type { Now } from '../../domain/time.ts'
import { answerSeeOther } from '../../http/answers.ts'
import type { Pushes } from '../../pushes/pushes.ts'
import type { Form } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { type ListQuery, listHref, readListQuery } from './list-query.ts'
import { createListView } from './list-view.tsx'

export type DashboardOptions = {
  answer: AnswerGuest
  pushes: Pick<Pushes, 'overview' | 'expireSelected' | 'markSeen'>
  now: Now
}

export function createDashboard({ answer, pushes, now }: DashboardOptions) {
  const view = createListView(answer)

  async function show(guest: Member): Promise<Response> {
    const asked = readListQuery(guest.query)
    const overview = await pushes.overview(guest.account, asked)
    return view(guest, { asked: { ...asked, until: asked.until ?? now() }, overview, now: now() })
  }

  /** Redirects back to the same page of the list, which tells what was done. */
  async function change(guest: Member, form: Form): Promise<Response> {
    const asked = readListQuery(new URLSearchParams(form.text('list')))
    const only = form.text('only')
    const selected = form.fields.flatMap(([name, value]) => (name === 'push' ? [value] : []))
    const { account, viewer } = guest
    if (only !== '') {
      const expired = await pushes.expireSelected([only], { account, visit: viewer.visit })
      return leadBack(guest, asked, { done: 'expired', n: expired })
    }
    if (selected.length === 0) return leadBack(guest, asked, { done: 'none', n: 0 })
    if (form.text('do') !== 'expire') {
      return leadBack(guest, asked, { done: 'seen', n: await pushes.markSeen(selected, account) })
    }
    const expired = await pushes.expireSelected(selected, { account, visit: viewer.visit })
    return leadBack(guest, asked, { done: 'expired', n: expired })
  }

  return { show, change }
}

type Done = { done: 'expired' | 'seen' | 'none'; n: number }

function leadBack(guest: Member, asked: ListQuery, { done, n }: Done): Response {
  const address = listHref(asked)
  const told = done === 'seen' ? '' : `${address.includes('?') ? '&' : '?'}done=${done}&n=${n}`
  return answerSeeOther(guest.href(`${address}${told}`))
}
