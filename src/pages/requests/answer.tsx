// The page of a request's link: a person without an account sends a secret, and learns only that it has
// arrived, or that it cannot be sent.

import { presentAsked } from '../../api/requests.ts'
import { type DomainError, isDomainError, isOutage, nullIfMissing } from '../../domain/errors.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import { answerJson } from '../../http/answers.ts'
import { isJsonWanted } from '../../http/door/paths.ts'
import type { BodyLimits } from '../../http/intake/body.ts'
import { createReceiveAnswer } from '../../http/intake/receiving.ts'
import { PAGES } from '../../http/urls.ts'
import { KEY_LENGTH, newIdempotencyKey } from '../../pushes/idempotency.ts'
import { closed } from '../../requests/answering.ts'
import { fingerprintOfRecipient } from '../../requests/recipient.ts'
import type { Requests } from '../../requests/requests.ts'
import { Assurances, Contact, sayHost } from '../frame/brand.tsx'
import { problemTexts } from '../frame/fields.tsx'
import { type Guest, leadTo, type Params } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { Address, ButtonLink, EmblemCard, Flag, fillIn, Moment, Notice } from '../frame/parts.tsx'
import type { SealingScripts } from '../frame/sealing.tsx'
import { createFindSender, type FindSenderOptions } from '../receive/sender.ts'
import { explainRefusal } from '../share/create/create-refusals.ts'
import { AnswerForm, type AnswerProps, type RefusedAnswer, SealedForm } from './answer-form.tsx'

export type AnswerPagesOptions = Pick<FindSenderOptions, 'accounts'> & {
  answer: AnswerGuest
  requests: Pick<Requests, 'findAsked' | 'beginAnswer'>
  limits: PushLimits
  body: BodyLimits
  sealingScripts: SealingScripts
}

export function createAnswerPages(options: AnswerPagesOptions) {
  const { answer, requests, limits, body, sealingScripts: scripts } = options
  const findSender = createFindSender(options)
  const receiveAnswer = createReceiveAnswer({ limits, body })

  const plain = (guest: Guest) => ({ guest, title: guest.say('answer_title'), frame: 'plain' }) as const

  async function show(guest: Guest, { url_token = '' }: Params): Promise<Response> {
    const isJson = isJsonWanted(guest.exchange)
    const response = await (isJson ? showJson(url_token) : showPage(guest, url_token))
    response.headers.append('vary', 'Accept')
    return response
  }

  /** Answers a program with the facts that the page shows. */
  async function showJson(urlToken: string): Promise<Response> {
    const asked = await requests.findAsked(urlToken)
    if (asked === null) throw closed()
    const asker = await findSender({ ...asked, ownerId: asked.accountId })
    return answerJson(200, presentAsked(asked, asker))
  }

  async function showPage(guest: Guest, url_token: string): Promise<Response> {
    if (guest.query.get('done') !== 'sent') return showForm(guest, url_token)
    const title = guest.say('answer_sent_title')
    const asked = await requests.findAsked(url_token).catch(nullIfMissing)
    const content = (
      <EmblemCard icon="check" tone="good" title={title}>
        <p>{guest.say('answer_sent')}</p>
        {asked !== null && (
          <p>
            <ButtonLink icon="plus" to={guest.href(PAGES.answer.href({ url_token }))}>
              {guest.say('answer_again')}
            </ButtonLink>
          </p>
        )}
      </EmblemCard>
    )
    return answer(content, { ...plain(guest), title })
  }

  async function showForm(
    guest: Guest,
    urlToken: string,
    refusal: RefusedAnswer | null = null,
    payload = '',
  ) {
    const asked = await requests.findAsked(urlToken)
    if (asked === null) return showOver(guest)
    const { status = 200, headers = {} } = refusal ?? {}
    const idempotencyKey = keyIn(guest) ?? newIdempotencyKey()
    const asker = await findSender({ ...asked, ownerId: asked.accountId })
    const content = <Answer {...{ guest, asked, asker, limits, scripts, idempotencyKey, payload, refusal }} />
    return answer(content, {
      ...plain(guest),
      status,
      headers,
      script: 'answer',
      languageSwitch: refusal === null,
    })
  }

  function showOver(guest: Guest): Response {
    const title = guest.say('gone_title')
    const content = (
      <EmblemCard icon="hourglass" tone="gone" title={title}>
        <p>{guest.say('answer_over')}</p>
        <Contact guest={guest} />
      </EmblemCard>
    )
    return answer(content, { ...plain(guest), title, status: 410 })
  }

  /** Idempotent: a retry with the same key delivers the answer once. */
  async function send(guest: Guest, { url_token = '' }: Params): Promise<Response> {
    const { exchange, viewer } = guest
    let payload = ''
    const onPart = (name: string, value: unknown) => {
      if (name === 'push[payload]' && typeof value === 'string') payload = value
    }
    try {
      const idempotencyKey = keyIn(guest)
      const begun = await requests.beginAnswer(url_token, { viewer, idempotencyKey, waits: true })
      // Browsers submit line breaks as CR LF.
      const complete: typeof begun.complete = (sent) =>
        begun.complete({ ...sent, payload: sent.payload.replaceAll('\r\n', '\n') })
      await receiveAnswer({ exchange, sink: { ...begun, complete }, onPart }).finally(begun.end)
    } catch (cause) {
      if (isDomainError(cause, 'gone')) return showOver(guest)
      const refusal = isDomainError(cause) ? explain(cause, guest) : null
      if (refusal === null) throw cause
      return showForm(guest, url_token, refusal, payload)
    }
    return leadTo(guest, `${PAGES.answer.href({ url_token })}?done=sent`)
  }

  return { show, send }
}

/** Returns the key in the form's URL. It is needed before the body is read. */
function keyIn({ query }: Guest): string | null {
  const key = query.get('key') ?? ''
  return key.length >= KEY_LENGTH.min && key.length <= KEY_LENGTH.max && /^[!-~]+$/.test(key) ? key : null
}

/** Returns null for a refusal that the form does not explain. */
function explain(cause: DomainError, guest: Guest): RefusedAnswer | null {
  const { say } = guest
  const { passphrase } = cause.details
  if (passphrase !== undefined) {
    const problems = { passphrase: say(`passphrase_${passphrase}`) }
    return { status: 422, message: say('answer_problems'), problems }
  }
  const refusal = cause.code === 'conflict' ? null : explainRefusal(cause, guest)
  if (refusal === null) return null
  if (cause.details.isHeld) return { ...refusal, message: say('answer_held'), problems: {} }
  if (cause.details.isLocked) return { ...refusal, message: say('answer_locked'), problems: {} }
  const message = cause.code === 'invalid' ? say('answer_problems') : refusal.message
  const advice = isOutage(cause) ? say('outage_retry') : undefined
  return { ...refusal, message, advice, problems: problemTexts(refusal.problems ?? {}, guest.words) }
}

function Answer(props: AnswerProps) {
  const { guest, asked, asker, limits, refusal } = props
  const { recipient, expiresAt } = asked
  const { words, say } = guest
  const isSealed = recipient !== null && limits.endToEnd !== 'off'
  return (
    <EmblemCard icon="inbox" title={say(asker === null ? 'answer_title' : 'answer_page')}>
      {asker !== null && (
        <p class="lead">{fillIn(say('answer_asker'), 'address', <Address>{asker}</Address>)}</p>
      )}
      {asked.message !== '' && (
        <section aria-label={say('answer_asked')}>
          <pre class="prose" dir="auto">
            {`\n${asked.message}`}
          </pre>
        </section>
      )}
      <p>{sayHost('answer_lead', guest)}</p>
      {asked.acceptsText && asked.acceptsFiles && <p>{say('answer_both')}</p>}
      {refusal && (
        <Notice kind="refused">
          <p>{refusal.message}</p>
          {refusal.advice && <p>{refusal.advice}</p>}
        </Notice>
      )}
      {isSealed ? <SealedForm {...props} recipient={recipient} /> : <AnswerForm {...props} />}
      <Assurances
        guest={guest}
        of={[
          ['shield-check', say('answer_safe')],
          recipient !== null &&
            !isSealed && [
              'key-round',
              fillIn(say('answer_key'), 'key', <Flag>{fingerprintOfRecipient(recipient)}</Flag>),
            ],
          ['clock', fillIn(say('answer_until'), 'until', <Moment at={expiresAt} words={words} />)],
        ]}
      />
    </EmblemCard>
  )
}
