// The pages of an account's requests: asks somebody for a secret, lists what was asked for, closes it.

import type { PushLimits } from '../../domain/new-push.ts'
import type { Now } from '../../domain/time.ts'
import { createParseRequest } from '../../http/intake/request-input.ts'
import { PAGES } from '../../http/urls.ts'
import type { Requests } from '../../requests/requests.ts'
import { type Form, problemsIn, type RefusedForm } from '../frame/form.ts'
import { leadTo, type Member, type Params, readPage } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { createRequestView } from './request-view.tsx'
import { createRequestsView } from './requests-view.tsx'

export type RequestPagesOptions = {
  answer: AnswerGuest
  requests: Pick<Requests, 'create' | 'list' | 'get' | 'close' | 'findRecipient'>
  limits: PushLimits
  now: Now
}

export function createRequestPages(options: RequestPagesOptions) {
  const { answer, requests, limits, now } = options
  const view = createRequestView(answer)
  const viewAll = createRequestsView(answer)
  const parse = createParseRequest(limits)

  async function showAll(guest: Member, refused: RefusedForm | null = null) {
    const pageNumber = readPage(guest)
    const page = await requests.list(guest.account, pageNumber)
    const recipient = await requests.findRecipient(guest.account)
    return viewAll(guest, { page, pageNumber, recipient, limits, refused, now: now() })
  }

  async function ask(guest: Member, form: Form): Promise<Response> {
    try {
      const wanted = parse(Object.fromEntries(form.fields))
      const made = await requests.create(guest.account, { wanted, address: guest.viewer.visit.ip })
      return leadTo(guest, PAGES.request.href({ url_token: made.urlToken }))
    } catch (cause) {
      return showAll(guest, { form, problems: problemsIn(cause) })
    }
  }

  async function show(guest: Member, { url_token = '' }: Params): Promise<Response> {
    return view(guest, await requests.get(guest.account, url_token))
  }

  async function close(guest: Member, _form: Form, { url_token = '' }: Params): Promise<Response> {
    await requests.close(guest.account, url_token)
    return leadTo(guest, PAGES.request.href({ url_token }))
  }

  return { showAll: (guest: Member) => showAll(guest), ask, show, close }
}
