// The pages of an account's requests: asks another person for a secret, lists the requests, closes them.

import type { AccountPreferences } from '../../accounts/preferences.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import type { Now } from '../../domain/time.ts'
import { createParseRequest } from '../../http/intake/request-input.ts'
import { PAGES } from '../../http/urls.ts'
import type { Pushes } from '../../pushes/pushes.ts'
import type { OwnRequest, PageOfRequests, Requests } from '../../requests/requests.ts'
import { type Form, problemsIn, type RefusedForm } from '../frame/form.ts'
import { leadTo, type Member, type Params, readPage } from '../frame/guest.ts'
import { PageLinks } from '../frame/lists.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { Card, Notice, sayWhen } from '../frame/parts.tsx'
import type { SealingScripts } from '../frame/sealing.tsx'
import type { CreateScripts } from '../share/create/create-props.ts'
import { AskForm, readAskForm } from './ask-form.tsx'
import { nameOfRequest, RequestProgress, RequestView } from './request-view.tsx'

export type RequestPagesOptions = {
  answer: AnswerGuest
  requests: Pick<Requests, 'create' | 'list' | 'get' | 'close' | 'findRecipient'>
  pushes: Pick<Pushes, 'listAnswers'>
  preferences: Pick<AccountPreferences, 'findTemplate'>
  createScripts: Pick<CreateScripts, 'wordlist'>
  limits: PushLimits
  sealingScripts: SealingScripts
  now: Now
}

export function createRequestPages(options: RequestPagesOptions) {
  const { answer, requests, pushes, preferences, createScripts, limits, now } = options
  const { sealingScripts: scripts } = options
  const parse = createParseRequest(limits)

  async function showAll(guest: Member, refused: RefusedForm | null = null) {
    const pageNumber = readPage(guest)
    const page = await requests.list(guest.account, pageNumber)
    const recipient = await requests.findRecipient(guest.account)
    const { wordlist } = createScripts
    const props = { guest, page, pageNumber, recipient, limits, wordlist, refused }
    const content = <AllRequests {...props} now={now()} />
    const languageSwitch = refused === null
    const status = refused === null ? 200 : 422
    return answer(content, { guest, title: guest.say('ask_title'), status, languageSwitch, script: 'ask' })
  }

  async function ask(guest: Member, form: Form): Promise<Response> {
    try {
      const asked = readAskForm(form)
      const wanted = parse(asked.wire, asked.form)
      const made = await requests.create(guest.account, { wanted, address: guest.viewer.visit.ip })
      return leadTo(guest, PAGES.request.href({ url_token: made.urlToken }))
    } catch (cause) {
      const { max_answers, ...problems } = problemsIn(cause)
      const counted = max_answers === undefined ? {} : { expire_after_views: max_answers }
      return showAll(guest, { form, problems: { ...problems, ...counted } })
    }
  }

  async function show(guest: Member, { url_token = '' }: Params): Promise<Response> {
    const own = await requests.get(guest.account, url_token)
    const { id, answers: n } = own.request
    const answers = n === 0 ? [] : await pushes.listAnswers({ id, urlToken: url_token }, guest.account)
    const template = await preferences.findTemplate(guest.account, 'ask')
    const name = nameOfRequest(own, guest.words)
    const title = n === 0 ? name : `(${guest.words.number(n)}) ${name}`
    return answer(<RequestView {...{ guest, own, answers, scripts, template }} now={now()} />, {
      guest,
      title,
      script: 'handover',
    })
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
  /** The age key of the account. */
  recipient: string | null
  limits: PushLimits
  wordlist: string
  refused: RefusedForm | null
  now: number
}

function AllRequests(props: Props) {
  const { guest, page, pageNumber, now } = props
  const { say } = guest
  return (
    <>
      <h1>{say('ask_title')}</h1>
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
  return (
    <li>
      <div>
        <RequestProgress own={own} words={words} now={now} />
        <div>
          <a href={href(PAGES.request.href({ url_token: own.urlToken }))}>
            <bdi>{nameOfRequest(own, words)}</bdi>
          </a>
        </div>
        <p class="hint">{sayWhen('row_created', own.request.createdAt, { words, now })}</p>
      </div>
    </li>
  )
}
