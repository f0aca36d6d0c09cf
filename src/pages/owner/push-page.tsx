// The owner's page of a push: shows, edits, unlocks and expires it, and reads an answer.

import { type AuditEntry, PAGE_SIZE } from '../../domain/audit.ts'
import { isDomainError, notFound } from '../../domain/errors.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import { isExpired } from '../../domain/push.ts'
import type { Now } from '../../domain/time.ts'
import { PAGES } from '../../http/urls.ts'
import type { PageSeals } from '../../pushes/page-seals.ts'
import type { PushDetails, Pushes } from '../../pushes/pushes.ts'
import { type Form, problemsIn, type RefusedForm } from '../frame/form.ts'
import { leadTo, type Member, type Params, readPage } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { nameForOwner } from '../frame/parts.tsx'
import type { SealingScripts } from '../frame/sealing.tsx'
import { sealText, type View } from '../receive/revealed.tsx'
import type { createShowForm } from '../share/create/create-page.tsx'
import { createReadEditForm } from './edit-view.tsx'
import { PushView } from './push-view.tsx'
import type { ReadContent } from './received-view.tsx'

export type PushPageOptions = {
  showShared: ReturnType<typeof createShowForm>['showShared']
  answer: AnswerGuest
  pushes: Pick<Pushes, 'getOwned' | 'retrieve' | 'unlock' | 'expire' | 'edit' | 'markSeen'>
  shownTexts: PageSeals['shownTexts']
  limits: PushLimits
  sealingScripts: SealingScripts
  now: Now
}

export function createPushPages(options: PushPageOptions) {
  const { answer, pushes, showShared, shownTexts, limits, sealingScripts: scripts, now } = options
  const readEditForm = createReadEditForm(limits)

  async function show(guest: Member, { url_token = '' }: Params): Promise<Response> {
    const owned = await pushes.getOwned(url_token, guest.account)
    return answerPush(await noteLook(guest, owned), owned)
  }

  /** Shows the content of an answer on its page. */
  async function read(guest: Member, _form: Form, { url_token = '' }: Params): Promise<Response> {
    return openAnswer(guest, url_token, async (view, reader) => {
      const content = { view, sealedText: sealText(view, shownTexts), scripts }
      return answerPush(reader, await pushes.getOwned(url_token, guest.account), { content })
    })
  }

  /** Begins a new push of the owner with the text of an answer. Browsers cannot fill in files. */
  async function passOn(guest: Member, _form: Form, { url_token = '' }: Params): Promise<Response> {
    return openAnswer(guest, url_token, ({ payload }, reader) => {
      const fields = { kind: payload === '' ? 'file' : 'text', payload }
      return showShared(reader, { fields, files: [] }, null)
    })
  }

  type UseAnswer = (view: View, reader: Member) => Promise<Response>

  /**
   * Opens an answer; the owner's own view does not count. Redirects to the page of an answer that has ended.
   */
  async function openAnswer(guest: Member, urlToken: string, use: UseAnswer): Promise<Response> {
    const owned = await pushes.getOwned(urlToken, guest.account)
    if (owned.request === null) throw notFound()
    const { viewer, exchange } = guest
    const asking = { passphrase: null, viewer, ownLook: true, makeRoom: exchange.makeRoom }
    const view = await pushes.retrieve(urlToken, asking)
    if (view.outcome !== 'view') return leadTo(guest, PAGES.push.href({ url_token: urlToken }))
    return use(view, await noteLook(guest, owned))
  }

  /**
   * Marks the push as seen, and returns the guest with the new count. If the store refuses, the mark in the
   * list stays and the page is shown anyway.
   */
  async function noteLook(guest: Member, { urlToken, isUnseen }: PushDetails): Promise<Member> {
    if (!isUnseen) return guest
    try {
      await pushes.markSeen([urlToken], guest.account)
    } catch (cause) {
      if (!isDomainError(cause)) throw cause
    }
    return { ...guest, unseen: Math.max(0, guest.unseen - 1) }
  }

  type PushView = { refused?: RefusedForm; content?: ReadContent }

  async function answerPush(guest: Member, owned: PushDetails, shown: PushView = {}): Promise<Response> {
    const { refused = null, content: read = null } = shown
    const pageNumber = readPage(guest)
    const entries = await listNewest(owned.log, pageNumber)
    const time = now()
    const isLive = !isExpired(owned.push, time)
    const isEditing = refused !== null || guest.query.has('edit')
    const facts = { guest, owned, isLive, entries, pageNumber, refused, isEditing, read }
    const content = <PushView {...facts} now={time} />
    const title = nameForOwner(owned, guest.words)
    const status = refused === null ? 200 : 422
    const script = read === null ? {} : { script: 'receive' as const, languageSwitch: false }
    return answer(content, { guest, title, status, width: isEditing ? 'narrow' : 'wide', ...script })
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
      return answerPush(guest, owned, { refused: { form, problems: problemsIn(cause) } })
    }
    return leadBack(guest, url_token, 'edited')
  }

  return { show, read, passOn, expire, unlock, edit }
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
