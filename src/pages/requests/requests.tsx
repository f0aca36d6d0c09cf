// The pages of an account's requests: asks another person for a secret, lists the requests, closes them.

import { DURATIONS, MAX_PASSPHRASE_BYTES, type PushLimits } from '../../domain/new-push.ts'
import { MAX_ANSWERS } from '../../domain/requests.ts'
import { DAY, type Now } from '../../domain/time.ts'
import { createParseRequest } from '../../http/intake/request-input.ts'
import { PAGES } from '../../http/urls.ts'
import type { OwnRequest, PageOfRequests, Requests } from '../../requests/requests.ts'
import { Input, RefusedFields, readFields, Select } from '../frame/fields.tsx'
import { type Form, problemsIn, type RefusedForm } from '../frame/form.ts'
import { leadTo, type Member, type Params, readPage } from '../frame/guest.ts'
import { PageLinks, Row } from '../frame/lists.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { Card, Notice, sayWhen } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { NameInput, NoteInput, PassphraseInput, RecipientInput } from '../frame/push-fields.tsx'
import { lifetimeText, offeredDurations } from '../share/create/expiry-chips.ts'
import { AskTabs } from './ask-tabs.tsx'
import { countAnswers, nameOfRequest, RequestState, RequestView } from './request-view.tsx'

export type RequestPagesOptions = {
  answer: AnswerGuest
  requests: Pick<Requests, 'create' | 'list' | 'get' | 'close' | 'findRecipient'>
  limits: PushLimits
  now: Now
}

export function createRequestPages(options: RequestPagesOptions) {
  const { answer, requests, limits, now } = options
  const parse = createParseRequest(limits)

  async function showAll(guest: Member, refused: RefusedForm | null = null) {
    const pageNumber = readPage(guest)
    const page = await requests.list(guest.account, pageNumber)
    const recipient = await requests.findRecipient(guest.account)
    const content = <AllRequests {...{ guest, page, pageNumber, recipient, limits, refused }} now={now()} />
    const languageSwitch = refused === null
    const status = refused === null ? 200 : 422
    return answer(content, { guest, title: guest.say('ask_title'), status, languageSwitch })
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
    const own = await requests.get(guest.account, url_token)
    const title = nameOfRequest(own, guest.words)
    return answer(<RequestView guest={guest} own={own} />, { guest, title, script: 'handover' })
  }

  async function close(guest: Member, _form: Form, { url_token = '' }: Params): Promise<Response> {
    await requests.close(guest.account, url_token)
    return leadTo(guest, PAGES.request.href({ url_token }))
  }

  return { showAll: (guest: Member) => showAll(guest), ask, show, close }
}

type Props = {
  guest: Member
  page: PageOfRequests
  pageNumber: number
  /** The account's own age key. */
  recipient: string | null
  limits: PushLimits
  refused: RefusedForm | null
  now: number
}

function AllRequests(props: Props) {
  const { guest, page, pageNumber, now } = props
  const { say } = guest
  return (
    <>
      <AskTabs guest={guest} shown="requests" />
      <p class="lead">{say('ask_lead')}</p>
      <AskForm {...props} />
      {page.damaged > 0 && <Notice kind="bad">{say('damaged', { n: page.damaged })}</Notice>}
      {page.requests.length > 0 && (
        <Card id="requests" title={say('requests_own')}>
          <ul class="rows">
            {page.requests.map((own) => (
              <RequestRow guest={guest} own={own} now={now} />
            ))}
          </ul>
        </Card>
      )}
      <PageLinks
        guest={guest}
        pageNumber={pageNumber}
        hasNext={page.isFull}
        linkTo={(number) => guest.href(`${PAGES.requests.href()}?page=${number}#requests`)}
      />
    </>
  )
}

function RequestRow({ guest, own, now }: { guest: Member; own: OwnRequest; now: number }) {
  const { words, href } = guest
  const { urlToken, request } = own
  return (
    <Row
      title={nameOfRequest(own, words)}
      href={href(PAGES.request.href({ url_token: urlToken }))}
      beside={<RequestState own={own} words={words} />}
    >
      <p class="hint">
        {words.say('request_answers')}: {countAnswers(own, words)} ·{' '}
        {own.isOver
          ? sayWhen('row_created', request.createdAt, { words, now })
          : sayWhen('row_expires', request.expiresAt, { words, now })}
      </p>
    </Row>
  )
}

function AskForm({ guest, recipient, limits, refused }: Props) {
  const { words, say } = guest
  const { texts, typed, field } = readFields(refused, words)
  return (
    <PostForm guest={guest} action={PAGES.ask.href()} isOnce>
      <RefusedFields problems={texts} words={words} />
      <NoteInput
        {...field('message')}
        words={words}
        label={say('ask_message')}
        hint={say('ask_message_hint')}
      />
      {/* If files are off, there is nothing to choose. */}
      {limits.kinds.has('file') && (
        <Select
          {...field('accept')}
          label={say('ask_accepts')}
          options={[
            ['', say('ask_accepts_both')],
            ['text', say('kind_text')],
            ['files', say('kind_file')],
          ]}
        />
      )}
      <Select
        {...field('expire_after_duration')}
        value={typed('expire_after_duration') || String(DURATIONS.indexOf(limits.days.default * DAY))}
        label={say('expire_after')}
        options={offeredDurations(limits).map((index) => [index, lifetimeText(DURATIONS[index] ?? 0, words)])}
      />
      <details
        class="options"
        open={['max_answers', 'passphrase', 'recipient', 'name'].some((field) => typed(field) !== '')}
      >
        <summary>{say('more_options')}</summary>
        <Input
          {...field('max_answers')}
          type="number"
          label={say('ask_answers')}
          hint={say('ask_answers_hint', { min: 1, n: MAX_ANSWERS })}
          attributes={{ inputmode: 'numeric', min: 1, max: MAX_ANSWERS, placeholder: '1' }}
        />
        <NameInput
          {...field('name')}
          words={words}
          label={say('ask_name')}
          placeholder={say('ask_name_hint')}
        />
        <PassphraseInput
          {...field('passphrase')}
          words={words}
          label={say('passphrase_optional')}
          hint={say('ask_passphrase_hint')}
          attributes={{ autocomplete: 'new-password', maxlength: MAX_PASSPHRASE_BYTES }}
        />
        <RecipientInput
          {...field('recipient')}
          label={say('ask_key')}
          hint={say(recipient === null ? 'ask_key_hint' : 'ask_key_own')}
          placeholder={recipient ?? undefined}
        />
        <p class="hint">{say('key_warning')}</p>
      </details>
      <Submit>{say('ask_submit')}</Submit>
    </PostForm>
  )
}
