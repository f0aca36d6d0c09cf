// The owner's page of a push: shows, edits, unlocks and expires it.

import { type AuditEntry, PAGE_SIZE } from '../../domain/audit.ts'
import { isDomainError } from '../../domain/errors.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import { isExpired } from '../../domain/push.ts'
import type { Now } from '../../domain/time.ts'
import { PAGES } from '../../http/urls.ts'
import type { PushDetails, Pushes } from '../../pushes/pushes.ts'
import { type Form, problemsIn, type RefusedForm } from '../frame/form.ts'
import { leadTo, type Member, type Params, readPage } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { nameForOwner } from '../frame/parts.tsx'
import { createReadEditForm } from './edit-view.tsx'
import { PushView } from './push-view.tsx'

export type PushPageOptions = {
  answer: AnswerGuest
  pushes: Pick<Pushes, 'getOwned' | 'unlock' | 'expire' | 'edit' | 'markSeen'>
  limits: PushLimits
  now: Now
}

export function createPushPages({ answer, pushes, limits, now }: PushPageOptions) {
  const readEditForm = createReadEditForm(limits)

  async function show(guest: Member, { url_token = '' }: Params): Promise<Response> {
    const owned = await pushes.getOwned(url_token, guest.account)
    if (!owned.isUnseen) return answerPush(guest, owned, null)
    await noteLook(guest, url_token)
    return answerPush({ ...guest, unseen: Math.max(0, guest.unseen - 1) }, owned, null)
  }

  /**
   * Marks the push as seen. If the store refuses, the mark in the list stays and the page is shown anyway.
   */
  async function noteLook({ account }: Member, urlToken: string): Promise<void> {
    try {
      await pushes.markSeen([urlToken], account)
    } catch (cause) {
      if (!isDomainError(cause)) throw cause
    }
  }

  async function answerPush(
    guest: Member,
    owned: PushDetails,
    refused: RefusedForm | null,
  ): Promise<Response> {
    const pageNumber = readPage(guest)
    const entries = await listNewest(owned.log, pageNumber)
    const time = now()
    const isLive = !isExpired(owned.push, time)
    const content = <PushView {...{ guest, owned, isLive, entries, pageNumber, refused }} now={time} />
    const title = nameForOwner(owned, guest.words)
    return answer(content, { guest, title, status: refused === null ? 200 : 422, width: 'wide' })
  }

  /** Redirects back to the page of the push. Idempotent. */
  async function expire(guest: Member, _form: Form, { url_token = '' }: Params): Promise<Response> {
    await pushes.getOwned(url_token, guest.account)
    await pushes.expire(url_token, guest.viewer)
    return leadBack(guest, url_token, 'expired')
  }

  async function unlock(guest: Member, _form: Form, { url_token = '' }: Params): Promise<Response> {
    await pushes.unlock(url_token, guest.viewer)
    return leadBack(guest, url_token, 'unlocked')
  }

  /** If a field is refused, shows the form again with what was typed. */
  async function edit(guest: Member, form: Form, { url_token = '' }: Params): Promise<Response> {
    const owned = await pushes.getOwned(url_token, guest.account)
    try {
      await pushes.edit(url_token, guest.viewer, () => readEditForm(form, now()))
    } catch (cause) {
      return answerPush(guest, owned, { form, problems: problemsIn(cause) })
    }
    return leadBack(guest, url_token, 'edited')
  }

  return { show, expire, unlock, edit }
}

/** Returns a page of the log, newest entries first. `listPage` counts pages from the oldest entry. */
async function listNewest(
  { entries, listPage }: PushDetails['log'],
  pageNumber: number,
): Promise<AuditEntry[]> {
  const end = entries - (pageNumber - 1) * PAGE_SIZE
  const start = Math.max(0, end - PAGE_SIZE)
  if (end <= start) return []
  const first = Math.floor(start / PAGE_SIZE)
  const older = await listPage(first + 1)
  const newer = end > (first + 1) * PAGE_SIZE ? await listPage(first + 2) : []
  return [...older, ...newer].slice(start - first * PAGE_SIZE, end - first * PAGE_SIZE).reverse()
}

function leadBack(guest: Member, urlToken: string, done: string): Response {
  return leadTo(guest, `${PAGES.push.href({ url_token: urlToken })}?done=${done}`)
}
