// The pages of an account's requests: asks somebody for a secret, lists what was asked for, shows what arrived, closes it.

import { isDomainError } from '../../domain/errors.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import type { Problems } from '../../domain/problems.ts'
import type { Now } from '../../domain/time.ts'
import { answerSeeOther } from '../../http/answers.ts'
import { createParseRequest } from '../../http/intake/request-input.ts'
import { PAGES } from '../../http/urls.ts'
import type { OverviewPush } from '../../pushes/owner-lists.ts'
import type { Pushes } from '../../pushes/pushes.ts'
import type { OwnRecipient } from '../../requests/own-recipient.ts'
import type { OwnRequest, Requests } from '../../requests/requests.ts'
import type { Form } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { createRequestView } from './request-view.tsx'
import { createRequestsView } from './requests-view.tsx'

export type RequestPagesOptions = {
  answer: AnswerGuest
  requests: Pick<Requests, 'create' | 'list' | 'get' | 'close'>
  ownRecipient: Pick<OwnRecipient, 'find'>
  pushes: Pick<Pushes, 'list'>
  limits: PushLimits
  now: Now
}

type Params = Partial<Record<string, string>>

export function createRequestPages(options: RequestPagesOptions) {
  const { answer, requests, ownRecipient, pushes, limits, now } = options
  const view = createRequestView(answer)
  const viewAll = createRequestsView(answer)
  const parse = createParseRequest(limits)

  async function showAll(guest: Member, refused: { form: Form; problems: Problems } | null = null) {
    const pageNumber = Number(/^[1-9]\d{0,2}$/.exec(guest.query.get('page') ?? '')?.[0] ?? 1)
    const page = await requests.list(guest.account, pageNumber)
    const recipient = await ownRecipient.find(guest.account)
    return viewAll(guest, { page, pageNumber, recipient, limits, refused, now: now() })
  }

  async function ask(guest: Member, form: Form): Promise<Response> {
    try {
      const wanted = parse(Object.fromEntries(form.fields))
      const made = await requests.create(guest.account, { wanted, address: guest.viewer.visit.ip })
      return answerSeeOther(guest.href(PAGES.request.href({ url_token: made.urlToken })))
    } catch (cause) {
      if (!isDomainError(cause, 'invalid')) throw cause
      return showAll(guest, { form, problems: cause.details.problems ?? {} })
    }
  }

  async function show(guest: Member, { url_token = '' }: Params): Promise<Response> {
    const own = await requests.get(guest.account, url_token)
    return view(guest, { own, arrived: await listArrived(guest, own), now: now() })
  }

  /** Newest first. What arrived is younger than its request. */
  async function listArrived({ account }: Member, { urlToken, request }: OwnRequest) {
    const arrived: OverviewPush[] = []
    for (const expired of [false, true]) {
      for (let pageNumber = 1; pageNumber <= MAX_PAGES; pageNumber += 1) {
        const page = await pushes.list(account, { expired, pageNumber, before: null })
        arrived.push(...page.pushes.filter((push) => push.request === urlToken))
        const isBefore = (page.pushes.at(-1)?.push.createdAt ?? 0) < request.createdAt
        if (!page.isFull || isBefore || arrived.length >= request.answers) break
      }
    }
    return arrived.sort((one, other) => other.push.createdAt - one.push.createdAt)
  }

  async function close(guest: Member, _form: Form, { url_token = '' }: Params): Promise<Response> {
    await requests.close(guest.account, url_token)
    return answerSeeOther(guest.href(PAGES.request.href({ url_token })))
  }

  return { showAll: (guest: Member) => showAll(guest), ask, show, close }
}

/** Of 50 pushes each, active and expired ones: the list has what is older. */
const MAX_PAGES = 4
