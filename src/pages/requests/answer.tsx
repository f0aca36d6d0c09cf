// The page of a request's link: somebody without an account sends what was asked for, and learns only that it has arrived.

import { type DomainError, isDomainError, isOutage } from '../../domain/errors.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import type { BodyLimits } from '../../http/intake/body.ts'
import { createReceiveAnswer } from '../../http/intake/receiving.ts'
import { PAGES } from '../../http/urls.ts'
import { KEY_LENGTH, newIdempotencyKey } from '../../pushes/idempotency.ts'
import type { Requests } from '../../requests/requests.ts'
import { problemTexts } from '../frame/fields.tsx'
import { type Guest, leadTo, type Params } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { explainRefusal } from '../share/create/create-refusals.ts'
import { Answer, Arrived, Over, type Why } from './answer-view.tsx'

export type AnswerPagesOptions = {
  answer: AnswerGuest
  requests: Pick<Requests, 'findAsked' | 'beginAnswer'>
  limits: PushLimits
  body: BodyLimits
}

export function createAnswerPages({ answer, requests, limits, body }: AnswerPagesOptions) {
  const receiveAnswer = createReceiveAnswer({ limits, body })

  const plain = (guest: Guest) => ({ guest, title: guest.say('answer_title'), frame: 'plain' }) as const

  async function show(guest: Guest, { url_token = '' }: Params): Promise<Response> {
    if (guest.query.get('done') !== 'sent') return showForm(guest, url_token)
    const title = guest.say('answer_sent_title')
    return answer(<Arrived guest={guest} />, { ...plain(guest), title })
  }

  async function showForm(guest: Guest, urlToken: string, why: Why | null = null, payload = '') {
    const asked = await requests.findAsked(urlToken)
    if (asked === null) return showOver(guest)
    const { status = 200, headers = {} } = why ?? {}
    const idempotencyKey = keyIn(guest) ?? newIdempotencyKey()
    const content = <Answer {...{ guest, asked, limits, idempotencyKey, payload, why }} />
    return answer(content, {
      ...plain(guest),
      status,
      headers,
      script: 'answer',
      languageSwitch: why === null,
    })
  }

  function showOver(guest: Guest): Response {
    const title = guest.say('gone_title')
    return answer(<Over guest={guest} />, { ...plain(guest), title, status: 410 })
  }

  /** Sent again with its key, an answer arrives once. */
  async function send(guest: Guest, { url_token = '' }: Params): Promise<Response> {
    const { exchange, viewer } = guest
    let payload = ''
    const onPart = (name: string, value: unknown) => {
      if (name === 'push[payload]' && typeof value === 'string') payload = value
    }
    try {
      const idempotencyKey = keyIn(guest)
      const begun = await requests.beginAnswer(url_token, { viewer, idempotencyKey, waits: true })
      // Forms end lines with CR LF, whatever was typed.
      const complete = (text: string) => begun.complete(text.replaceAll('\r\n', '\n'))
      await receiveAnswer({ exchange, sink: { ...begun, complete }, onPart }).finally(begun.end)
    } catch (cause) {
      if (isDomainError(cause, 'gone')) return showOver(guest)
      const why = isDomainError(cause) ? explain(cause, guest) : null
      if (why === null) throw cause
      return showForm(guest, url_token, why, payload)
    }
    return leadTo(guest, `${PAGES.answer.href({ url_token })}?done=sent`)
  }

  return { show, send }
}

/** In the address of the form, because it is needed before anything of the form is read. */
function keyIn({ query }: Guest): string | null {
  const key = query.get('key') ?? ''
  return key.length >= KEY_LENGTH.min && key.length <= KEY_LENGTH.max && /^[!-~]+$/.test(key) ? key : null
}

/** Null for a refusal that the form does not explain. */
function explain(cause: DomainError, guest: Guest): Why | null {
  const { say } = guest
  const { passphrase } = cause.details
  if (passphrase !== undefined) {
    const problems = { passphrase: say(`passphrase_${passphrase}`) }
    return { status: 422, message: say('answer_problems'), problems }
  }
  const why = cause.code === 'conflict' ? null : explainRefusal(cause, guest)
  if (why === null) return null
  if (cause.details.isLocked) return { ...why, message: say('answer_locked'), problems: {} }
  const message = cause.code === 'invalid' ? say('answer_problems') : why.message
  const advice = isOutage(cause) ? say('outage_retry') : undefined
  return { ...why, message, advice, problems: problemTexts(why.problems ?? {}, guest.words) }
}
