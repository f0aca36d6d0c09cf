// Sign-in by an OpenID provider: the way there, its callback, and linking an account to a person.

import type { Passkeys } from '../../accounts/passkeys.ts'
import { ProviderError, type ProviderOutcome } from '../../accounts/provider-sign-in.ts'
import type { CurrentSession } from '../../accounts/sessions.ts'
import { isDomainError, isOutage, notFound } from '../../domain/errors.ts'
import { answerJson, answerSeeOther } from '../../http/answers.ts'
import { PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import { Contact } from '../frame/brand.tsx'
import { cookieIn, cookieOf } from '../frame/cookies.ts'
import type { Form } from '../frame/form.ts'
import { type Guest, leadTo, type Member } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { EmblemCard } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { CodeInput, codeHintOf, EmailInput, PasswordInput } from './account-fields.tsx'
import { answerForm, type FormRefusal, orTooMany, tooMany } from './form-card.tsx'
import { PasskeyForm } from './passkey-form.tsx'
import { answerIn, type OnRefused, orRefused } from './passkeys.tsx'
import { ProviderLink, type ShownProvider } from './provider-link.tsx'
import { type createSignInPages, isOwnPath } from './sign-in.tsx'

export type ProviderPageOptions = {
  answer: AnswerGuest
  provider: ShownProvider | null
  passkeys: Pick<Passkeys, 'party' | 'confirm' | 'canAsk'>
  onRefused: OnRefused
}

type Options = Omit<ProviderPageOptions, 'provider'> & { provider: ShownProvider } & Pick<
    ReturnType<typeof createSignInPages>,
    'proceed'
  >

/** Longer paths are dropped, because the cookie of a sign-in has to hold them. */
const MAX_NEXT = 1_000

/** The explanation for each reason of a refusal. All other reasons get a general one. */
const EXPLAINED: Partial<Record<string, { status: number; text: WordKey }>> = {
  ...explain(503, 'provider_down', [
    ...['provider_unreachable', 'metadata_malformed', 'authority_unreadable', 'oauth_timeout'],
  ]),
  ...explain(403, 'provider_no_account', [
    ...['no_account', 'address_unverified', 'domain_not_allowed'],
    ...['account_disabled', 'break_glass', 'address_taken'],
  ]),
  ...explain(409, 'provider_person_taken', ['person_taken']),
  ...explain(403, 'provider_not_confirmed', ['another_person', 'not_asked_again', 'auth_time_missing']),
}

function explain(status: number, text: WordKey, reasons: readonly string[]) {
  return Object.fromEntries(reasons.map((reason) => [reason, { status, text }]))
}

export function createProviderPages({ answer, provider, onRefused, proceed, passkeys }: Options) {
  const { name, signIn } = provider

  /** Sends the browser to the provider. The URL holds a ticket, or the page to show afterwards. */
  async function start(guest: Guest): Promise<Response> {
    const given = guest.query.get('ticket')
    const next = guest.query.get('next') ?? ''
    const kept = next.length <= MAX_NEXT && isOwnPath(next) ? next : ''
    const visit =
      given === null ? ({ purpose: { kind: 'sign_in' }, next: kept } as const) : signIn.readTicket(given)
    if (visit === null) return refuse(guest, 'ticket_lapsed')
    return orRefuse(guest, async () => {
      const { url, cookie } = await signIn.start(visit)
      return answerSeeOther(url, { 'set-cookie': cookieOf(guest, { name: 'provider', value: cookie }) })
    })
  }

  async function finish(guest: Guest): Promise<Response> {
    const { query, session, viewer } = guest
    const cookie = cookieIn(guest, 'provider')
    const response = await orRefuse(guest, async () =>
      lead(guest, await signIn.finish({ query, cookie, session, visit: viewer.visit })),
    )
    // Leave the cookie if a callback is refused: it may be another tab's, and the cookie belongs to the later
    // sign-in.
    if (cookie !== null && response.status < 400)
      response.headers.append('set-cookie', cookieOf(guest, { name: 'provider', value: '' }))
    return response
  }

  function lead(guest: Guest, result: ProviderOutcome): Response | Promise<Response> {
    switch (result.outcome) {
      case 'signed_in':
      case 'code_needed':
        return proceed(guest, result, result.next)
      case 'password_needed':
        return askPassword(guest, result)
      case 'confirmation_code_needed':
        return askConfirmationCode(guest, result)
      case 'linked':
      case 'confirmed':
        return leadTo(guest, result.next)
      case 'refused':
        return refuse(guest, 'account_disabled')
    }
  }

  type Asked = FormRefusal & { pending: string; email?: string }

  function askPassword(guest: Guest, { pending, email = '', ...refusal }: Asked): Response {
    const { words, say } = guest
    return ask(guest, { title: say('provider_link_title'), hidden: { pending, email }, refusal }, [
      <p>{say('provider_link_lead', { name })}</p>,
      <EmailInput words={words} value={email} attributes={{ readonly: true }} />,
      <PasswordInput words={words} label={say('password')} autofocus />,
    ])
  }

  async function askConfirmationCode(guest: Guest, { pending, ...refusal }: Asked): Promise<Response> {
    const { words, say, session } = guest
    const account = session?.account
    const party = account && (await passkeys.canAsk(account)) ? passkeys.party : null
    const passkey = party && (
      <PasskeyForm
        {...{ guest, party, hidden: { pending }, challenge: { for: 'confirm' as const } }}
        action={PAGES.submitProvider.href()}
        label={say('passkey_use')}
        look="primary"
      />
    )
    return ask(guest, { title: say('code_title'), passkey, hidden: { pending }, refusal }, [
      <CodeInput words={words} hint={codeHintOf(account)} attributes={{ autofocus: party === null }} />,
    ])
  }

  type AskedForm = {
    title: string
    refusal: FormRefusal
    passkey?: Children
    hidden: Record<string, string>
  }

  function ask(guest: Guest, { title, refusal, passkey, hidden }: AskedForm, fields: Children): Response {
    const script = passkey ? 'passkey' : undefined
    return answerForm(
      answer,
      { guest, title, script, languageSwitch: false, ...refusal },
      <>
        {passkey}
        <PostForm guest={guest} action={PAGES.submitProvider.href()} hidden={hidden}>
          {fields}
          <Submit>{guest.say('provider_continue')}</Submit>
        </PostForm>
      </>,
    )
  }

  /** Takes the password that links an account, or the code that confirms a session. */
  function submit(guest: Guest, form: Form): Promise<Response> {
    const pending = form.text('pending')
    return orRefuse(guest, () =>
      form.text('password') === '' && guest.session !== null
        ? confirmByCode(guest, form, pending)
        : linkByPassword(guest, form, pending),
    )
  }

  async function linkByPassword(guest: Guest, form: Form, pending: string): Promise<Response> {
    const { visit } = guest.viewer
    const given = { pending, password: form.text('password'), visit }
    const result = await orTooMany(signIn.linkByPassword(given))
    if (result === 'too_many')
      return askPassword(guest, { pending, email: form.text('email'), ...tooMany(guest) })
    if (result.outcome === 'too_late') return refuse(guest, 'pending_lapsed')
    if (result.outcome === 'wrong')
      return askPassword(guest, {
        ...{ pending, email: result.email, status: 422 },
        notice: guest.say('password_wrong'),
      })
    return lead(guest, result)
  }

  const confirmByPasskey = (guest: Guest, session: CurrentSession, form: Form) =>
    orRefused(guest, onRefused, () => passkeys.confirm(session, answerIn(guest, form)))

  async function confirmByCode(guest: Guest, form: Form, pending: string): Promise<Response> {
    const { session, say } = guest
    if (session === null) return refuse(guest, 'session_ended')
    const isPasskey = form.text('passkey') !== ''
    const proof = isPasskey
      ? async () => (await confirmByPasskey(guest, session, form)) === 'confirmed'
      : form.text('code')
    const result = await orTooMany(signIn.confirmBy(session, { pending, proof }))
    if (result === 'too_many') return askConfirmationCode(guest, { pending, ...tooMany(guest) })
    if (result.outcome === 'too_late') return refuse(guest, 'pending_lapsed')
    if (result.outcome === 'wrong')
      return askConfirmationCode(guest, {
        pending,
        status: 422,
        notice: say(isPasskey ? 'passkey_refused' : 'code_wrong'),
      })
    return leadTo(guest, result.next)
  }

  /** Answers the provider, which reads only the status. */
  async function logOut(readToken: () => Promise<Form>, requestId: string): Promise<Response> {
    try {
      await signIn.logOut((await readToken()).text('logout_token'))
      return answerJson(200, {})
    } catch (cause) {
      const reason = cause instanceof ProviderError ? cause.reason : 'body_malformed'
      if (!(cause instanceof ProviderError) && (!isDomainError(cause) || isOutage(cause))) throw cause
      onRefused({ reason, requestId, err: causeOf(cause) })
      return answerJson(400, { error: 'invalid_request' })
    }
  }

  /** Shows the link to the provider once the session is confirmed. Another site cannot make this link. */
  async function link(guest: Member): Promise<Response> {
    if (!signIn.isOpenTo(guest.account)) throw notFound()
    const { say } = guest
    const next = `${PAGES.account.href()}?done=linked#provider`
    const purpose = { kind: 'link', session: guest.session.session.id } as const
    return answerForm(
      answer,
      { guest, title: say('provider_title', { name }), languageSwitch: false },
      <>
        <p>{say('provider_link_now', { name })}</p>
        <ProviderLink
          guest={guest}
          provider={provider}
          visit={{ purpose, next }}
          label={say('provider_continue')}
        />
      </>,
    )
  }

  async function unlink(guest: Member): Promise<Response> {
    await signIn.unlink(guest.account)
    return leadTo(guest, `${PAGES.account.href()}#provider`)
  }

  async function orRefuse(guest: Guest, work: () => Promise<Response>): Promise<Response> {
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof ProviderError)) throw cause
      return refuse(guest, cause.reason, causeOf(cause))
    }
  }

  function refuse(guest: Guest, reason: string, err?: unknown): Response {
    const { say, exchange } = guest
    onRefused({ reason, requestId: exchange.requestId, err })
    const { status, text } = EXPLAINED[reason] ?? { status: 400, text: 'provider_wrong' as const }
    const title = say('provider_refused_title')
    const content = (
      <EmblemCard icon={status === 503 ? 'hourglass' : 'circle-alert'} tone="gone" title={title}>
        <p>{say(text, { name, id: exchange.requestId })}</p>
        <a class="button quiet" href={guest.href(PAGES.signIn.href())}>
          {say('nav_sign_in')}
        </a>
        <Contact guest={guest} />
      </EmblemCard>
    )
    const headers: Record<string, string> = status === 503 ? { 'retry-after': '10' } : {}
    // Show no language form: it would repeat the query, and with it the code of the provider.
    return answer(content, { guest, title, status, headers, width: 'narrow', languageSwitch: false })
  }

  return { start, finish, submit, logOut, link, unlink }
}

/** Returns what was wrong, for the log. Leaves out a library's error text, which may quote a token. */
function causeOf(error: unknown): string | undefined {
  const { cause } = error instanceof ProviderError ? error : { cause: error }
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined
}
