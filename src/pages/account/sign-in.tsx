// Signs in and out: with a password, and with a code if the account has a second factor. Mails a password
// reset link.

import type { AccountLinks } from '../../accounts/account-links.ts'
import type { HeaderSignIn } from '../../accounts/header-sign-in.ts'
import type { Passkeys } from '../../accounts/passkeys.ts'
import type { AccountPreferences } from '../../accounts/preferences.ts'
import type { NewSession, Sessions, SignIn } from '../../accounts/sessions.ts'
import { DomainError } from '../../domain/errors.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import { PAGES } from '../../http/urls.ts'
import { Contact } from '../frame/brand.tsx'
import { cookieIn, cookieOf } from '../frame/cookies.ts'
import type { Form } from '../frame/form.ts'
import { type Guest, leadTo, type Member } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { EmblemCard } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { CodeInput, codeHintOf, EmailInput, PasswordInput } from './account-fields.tsx'
import { answerForm, type FormRefusal, orTooMany, tooMany } from './form-card.tsx'
import { PasskeyForm } from './passkey-form.tsx'
import { ProviderLink, type ShownProvider } from './provider-link.tsx'

export type SignInPageOptions = {
  answer: AnswerGuest
  sessions: Sessions
  preferences: Pick<AccountPreferences, 'findLanguage'>
  accountLinks: Pick<AccountLinks, 'sendReset'>
  /** Whether anyone may create an account. */
  signups: boolean
  limits: Pick<PushLimits, 'mail'>
  provider: ShownProvider | null
  /** Signs in the person that a proxy names; null without --auth-header. */
  headerSignIn: HeaderSignIn | null
  passkeys: Pick<Passkeys, 'party' | 'canAsk'>
  /** Whether accounts may sign in with only a passkey. */
  allowsPasskeys: boolean
  /** Whether every account may sign in with its password. */
  allowsPasswords: boolean
}

type SignInForm = FormRefusal & { email?: string; next?: string }

export function createSignInPages(options: SignInPageOptions) {
  const { answer, sessions, accountLinks, signups, limits, provider, headerSignIn } = options
  const { allowsPasswords, allowsPasskeys, passkeys, preferences } = options
  const { party } = passkeys

  function show(guest: Guest, shown: SignInForm = {}): Response {
    const { email = '', next = guest.query.get('next') ?? '', ...refusal } = shown
    const isRefused = refusal.status !== undefined
    const { words, say } = guest
    const isFocused = email === '' && provider === null && headerSignIn === null
    const form = (
      <>
        <PostForm guest={guest} action={PAGES.submitSignIn.href()} hidden={{ next }}>
          <EmailInput words={words} value={email} attributes={{ autofocus: isFocused }} />
          <PasswordInput words={words} label={say('password')} />
          <Submit>{say('nav_sign_in')}</Submit>
        </PostForm>
        {party !== null && allowsPasskeys && (
          <PasskeyForm
            guest={guest}
            party={party}
            action={PAGES.submitPasskey.href()}
            hidden={{ next }}
            label={say('passkey_sign_in')}
          />
        )}
        {limits.mail && (
          <p>
            <a href={guest.href(PAGES.forgot.href())}>{say('forgot_title')}</a>
          </p>
        )}
      </>
    )
    const script = party === null ? undefined : 'passkey'
    return answerForm(
      answer,
      { guest, title: say('sign_in_title'), script, ...refusal },
      <>
        {next !== '' && !isRefused ? <p>{say('sign_in_needed')}</p> : null}
        {provider && <ProviderLink guest={guest} provider={provider} next={next} />}
        {headerSignIn && (
          <p>
            <a
              class="button"
              href={guest.href(`${PAGES.headerSignIn.href()}?${new URLSearchParams({ next })}`)}
            >
              {say('header_sign_in')}
            </a>
          </p>
        )}
        {allowsPasswords ? (
          form
        ) : (
          <details open={isRefused}>
            <summary>{say('sign_in_by_password')}</summary>
            {form}
          </details>
        )}
        <p>
          {signups ? (
            <a href={guest.href(PAGES.signUp.href())}>{say('sign_up_link')}</a>
          ) : (
            say(limits.mail ? 'sign_in_no_account' : 'sign_in_help')
          )}
        </p>
      </>,
    )
  }

  async function signIn(guest: Guest, form: Form): Promise<Response> {
    const [email, password, next] = [form.text('email'), form.text('password'), form.text('next')]
    const { visit } = guest.viewer
    const result = await orTooMany(sessions.signIn({ email, password, visit }))
    if (result === 'too_many') return show(guest, { ...tooMany(guest), email, next })
    return result.outcome === 'refused'
      ? show(guest, { status: 422, notice: guest.say('sign_in_wrong'), email, next })
      : proceed(guest, result, next)
  }

  /** Begins the session, or asks for the code that the sign-in waits for. */
  function proceed(guest: Guest, result: Exclude<SignIn, { outcome: 'refused' }>, next: string) {
    return result.outcome === 'signed_in'
      ? enter(guest, result, next)
      : askCode(guest, { pending: result.pending, next })
  }

  type CodeForm = FormRefusal & { pending: string; next: string }

  async function askCode(guest: Guest, form: CodeForm): Promise<Response> {
    const { pending, next, ...refusal } = form
    const { words, say } = guest
    const waiting = sessions.readPending(pending)
    const factors = waiting?.factors
    const canAsk = waiting !== null && (await passkeys.canAsk({ id: waiting.accountId, ...waiting.factors }))
    const asked = canAsk ? party : null
    const script = asked === null ? undefined : 'passkey'
    return answerForm(
      answer,
      { guest, title: say('code_title'), script, ...refusal },
      <>
        {asked !== null && (
          <PasskeyForm
            guest={guest}
            party={asked}
            action={PAGES.submitPasskey.href()}
            hidden={{ pending, next }}
            challenge={{ pending }}
            label={say('passkey_use')}
            look="primary"
          />
        )}
        <PostForm guest={guest} action={PAGES.submitCode.href()} hidden={{ pending, next }}>
          <CodeInput words={words} hint={codeHintOf(factors)} attributes={{ autofocus: asked === null }} />
          <Submit look={asked === null ? 'primary' : 'quiet'}>{say('nav_sign_in')}</Submit>
        </PostForm>
      </>,
    )
  }

  async function confirm(guest: Guest, form: Form): Promise<Response> {
    const next = form.text('next')
    const pending = sessions.readPending(form.text('pending'))
    if (pending === null) return show(guest, { status: 422, notice: guest.say('code_too_late'), next })
    const asked = { pending: form.text('pending'), next }
    const input = { pending, code: form.text('code'), visit: guest.viewer.visit }
    const result = await orTooMany(sessions.confirmSignIn(input))
    if (result === 'too_many') return askCode(guest, { ...asked, ...tooMany(guest) })
    return result.outcome === 'signed_in'
      ? enter(guest, result, next)
      : askCode(guest, { ...asked, status: 422, notice: guest.say('code_wrong') })
  }

  /** Begins a session, in the account's language unless this browser has chosen one. */
  async function enter(guest: Guest, { account, sessionToken }: NewSession, next: string): Promise<Response> {
    const cookie = cookieOf(guest, { name: 'session', value: sessionToken })
    const response = leadTo(guest, isOwnPath(next) ? next : PAGES.create.href(), { 'set-cookie': cookie })
    const isChosen = guest.languageCookie !== null || cookieIn(guest, 'language') !== null
    const language = isChosen ? null : await preferences.findLanguage(account)
    if (language !== null)
      response.headers.append('set-cookie', cookieOf(guest, { name: 'language', value: language }))
    return response
  }

  /** Signs in after an account was created or its password was set. */
  async function enterAfter(
    guest: Guest,
    result: SignIn,
    next: string = PAGES.create.href(),
  ): Promise<Response> {
    return result.outcome === 'signed_in' ? enter(guest, result, next) : leadTo(guest, PAGES.signIn.href())
  }

  /** Shows the form that requests a password reset link. */
  function showForgot(guest: Guest, { email = '', ...refusal }: SignInForm = {}): Response {
    if (!limits.mail) throw new DomainError('not_found', 'not-found')
    const { words } = guest
    const title = words.say('forgot_title')
    return answerForm(
      answer,
      { guest, title, ...refusal },
      <>
        <p class="lead">{words.say('forgot_lead')}</p>
        <PostForm guest={guest} action={PAGES.submitForgot.href()}>
          <EmailInput words={words} value={email} attributes={{ autofocus: true }} />
          <Submit>{words.say('forgot_submit')}</Submit>
        </PostForm>
      </>,
    )
  }

  /** Answers the same whether or not the account exists. */
  async function sendReset(guest: Guest, form: Form): Promise<Response> {
    const email = form.text('email')
    const { visit } = guest.viewer
    const asked = { email, visit, language: guest.words.language }
    const sent = await orTooMany(accountLinks.sendReset(asked))
    if (sent === 'too_many') return showForgot(guest, { email, ...tooMany(guest) })
    const { say } = guest
    const title = say('forgot_sent_title')
    const content = (
      <EmblemCard icon="mail" tone="good" title={title}>
        <p>{say('forgot_sent')}</p>
        <Contact guest={guest} />
      </EmblemCard>
    )
    return answer(content, { guest, title, width: 'narrow' })
  }

  async function signOut(guest: Member): Promise<Response> {
    await sessions.endSession(guest.account, guest.session.session.id)
    return leadTo(guest, PAGES.create.href(), {
      'set-cookie': cookieOf(guest, { name: 'session', value: '' }),
    })
  }

  return { show, signIn, confirm, proceed, enter, askCode, enterAfter, showForgot, sendReset, signOut }
}

/** Whether `path` is a path of this server with its query. Prevents open redirects. */
export function isOwnPath(path: string): boolean {
  // Accept only characters that a URL may hold unescaped (RFC 3986, 3.3 and 3.4): no backslash, space or
  // control character.
  return /^\/(?![/\\])[\w\-.~%!$&'()*+,;=:@/?]*$/.test(path)
}
