// Pages of one-time links (first administrator, invitation, password reset), and of signing up.

import type { AccountLinks } from '../../accounts/account-links.ts'
import type { Sessions, SignIn } from '../../accounts/sessions.ts'
import type { SignUp } from '../../accounts/sign-up.ts'
import {
  type Account,
  type AccountLink,
  type AccountLinkPurpose,
  newAccountProblems,
} from '../../domain/account.ts'
import type { Visit } from '../../domain/audit.ts'
import { DomainError, isDomainError, isOutage } from '../../domain/errors.ts'
import type { PushLimits } from '../../domain/new-push.ts'
import type { Problems } from '../../domain/problems.ts'
import { PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import { Contact } from '../frame/brand.tsx'
import { problemTexts, RefusedFields } from '../frame/fields.tsx'
import { type Form, problemsIn } from '../frame/form.ts'
import type { Guest, Params } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { EmblemCard, Notice } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { EmailInput, NewPasswordInput } from './account-fields.tsx'
import { type FormRefusal, tooMany } from './form-card.tsx'
import { ProviderLink, type ShownProvider } from './provider-link.tsx'
import type { createSignInPages } from './sign-in.tsx'

export type WelcomePageOptions = {
  answer: AnswerGuest
  accountLinks: AccountLinks
  sessions: Sessions
  signUp: SignUp
  signups: boolean
  limits: Pick<PushLimits, 'mail'>
  enterAfter: ReturnType<typeof createSignInPages>['enterAfter']
  provider: ShownProvider | null
}

type WelcomeForm = FormRefusal & {
  title: WordKey
  lead: WordKey
  explained?: WordKey
  action: string
  /** The purpose of the link. It is sent with the form, so that a refused form keeps its title. */
  purpose?: AccountLinkPurpose
  /** The address that the link is for; null if the person may choose one. */
  email: string | null
  typedEmail?: string
  problems?: Problems
  /** The token of an invitation, which a sign-in by the provider can accept. */
  invitation?: string
  /** Whether the person may choose a password; true if absent. */
  takesPassword?: boolean
}

export function createWelcomePages(options: WelcomePageOptions) {
  const { answer, accountLinks, sessions, signups, limits, enterAfter, provider } = options

  function showForm(guest: Guest, form: WelcomeForm): Response {
    const { words, say } = guest
    const { email, problems = {}, takesPassword = true } = form
    const texts = problemTexts(problems, words)
    const hasProblems = Object.keys(problems).length > 0
    const content = (
      <div class="card">
        <p class="emblem">
          <Icon name="mark" />
        </p>
        <h1>{say(form.title)}</h1>
        <p class="lead">{say(form.lead)}</p>
        {form.purpose !== 'reset' && <p>{say('welcome_about', { name: guest.brand.name })}</p>}
        {form.explained && <p>{say(form.explained)}</p>}
        {form.notice && <Notice kind="refused">{form.notice}</Notice>}
        <RefusedFields problems={texts} words={words} />
        {provider && form.invitation !== undefined && (
          <ProviderLink
            guest={guest}
            provider={provider}
            visit={{ purpose: { kind: 'invite', link: form.invitation }, next: PAGES.create.href() }}
          />
        )}
        {takesPassword && (
          <PostForm
            guest={guest}
            action={form.action}
            hidden={form.purpose === undefined ? {} : { purpose: form.purpose }}
          >
            <EmailInput
              words={words}
              hint={say(limits.mail ? 'email_hint_mail' : 'email_hint')}
              problem={texts.email}
              value={email ?? form.typedEmail ?? ''}
              attributes={{ readonly: email !== null, autofocus: email === null && !hasProblems }}
            />
            <NewPasswordInput
              guest={guest}
              problem={texts.password}
              autofocus={email !== null && !hasProblems}
            />
            <Submit>{say('welcome_submit')}</Submit>
          </PostForm>
        )}
      </div>
    )
    const { status = hasProblems ? 422 : 200, headers = {} } = form
    const title = say(form.title)
    return answer(content, { guest, title, status, headers, width: 'card-width', script: 'strength' })
  }

  async function linkForm(
    guest: Guest,
    token: string,
    again: Pick<WelcomeForm, 'typedEmail' | 'problems'> = {},
  ): Promise<Response> {
    const link = await accountLinks.findLink(token, guest.viewer.visit)
    if (link === null) return lapsed(guest)
    return showForm(guest, {
      title: `${link.purpose}_title`,
      lead: `${link.purpose}_lead`,
      ...(link.purpose === 'reset' ? { explained: 'reset_explained' } : {}),
      action: PAGES.submitWelcome.href({ link: token }),
      email: link.email,
      purpose: link.purpose,
      ...(link.purpose === 'invite' ? { invitation: token, takesPassword: takesPassword(link) } : {}),
      ...again,
    })
  }

  /** Whether the account of this invitation could sign in with a password. */
  const takesPassword = ({ email, isAdmin }: AccountLink) =>
    provider === null || sessions.allowsPassword({ email: email ?? '', isAdmin })

  function lapsed(guest: Guest): Response {
    const { say } = guest
    const title = say('link_lapsed_title')
    const content = (
      <EmblemCard icon="hourglass" tone="gone" title={title}>
        <p>{say('link_lapsed_text')}</p>
        <Contact guest={guest} />
      </EmblemCard>
    )
    return answer(content, { guest, title, status: 404, width: 'narrow' })
  }

  async function useLink(guest: Guest, form: Form, { link = '' }: Params): Promise<Response> {
    const { visit } = guest.viewer
    const input = { token: link, email: form.text('email'), password: form.text('password'), visit }
    const found = provider === null ? null : await accountLinks.findLink(link, visit)
    if (found?.purpose === 'invite' && !takesPassword(found)) return linkForm(guest, link)
    try {
      const { account, isNew } = await accountLinks.useLink(input)
      const next = isNew && account.isAdmin ? PAGES.firstSteps.href() : undefined
      return enterAfter(guest, await begin(account, visit), next)
    } catch (cause) {
      if (isDomainError(cause, 'not_found')) return lapsed(guest)
      return linkForm(guest, link, { typedEmail: input.email, problems: problemsOf(cause) })
    }
  }

  /**
   * Signs in to the new account. During an outage the owner signs in later instead of sending the form again.
   */
  function begin(account: Account, visit: Visit): Promise<SignIn> {
    return sessions.beginFor(account, visit).catch((cause) => {
      if (!isOutage(cause)) throw cause
      return { outcome: 'refused' }
    })
  }

  function showSignUp(guest: Guest, again: Partial<WelcomeForm> = {}): Response {
    if (!signups) throw new DomainError('not_found', 'not-found')
    const words = { title: 'sign_up_title', lead: 'sign_up_lead' } as const
    return showForm(guest, { ...words, action: PAGES.submitSignUp.href(), email: null, ...again })
  }

  async function signUp(guest: Guest, form: Form): Promise<Response> {
    if (!signups) throw new DomainError('not_found', 'not-found')
    const input = { email: form.text('email'), password: form.text('password') }
    const typedEmail = input.email
    // Do not count a malformed try: the answer reveals nothing about other accounts.
    const problems = newAccountProblems(input)
    if (Object.keys(problems).length > 0) return showSignUp(guest, { typedEmail, problems })
    const { visit } = guest.viewer
    try {
      const account = await options.signUp({ ...input, visit })
      return enterAfter(guest, await begin(account, visit))
    } catch (cause) {
      if (isDomainError(cause, 'too_many')) return showSignUp(guest, { typedEmail, ...tooMany(guest) })
      return showSignUp(guest, { typedEmail, problems: problemsOf(cause) })
    }
  }

  return {
    show: (guest: Guest, { link = '' }: Params) => linkForm(guest, link),
    useLink,
    showSignUp: (guest: Guest) => showSignUp(guest),
    signUp,
  }
}

function problemsOf(cause: unknown): Problems {
  if (isDomainError(cause, 'conflict')) return { email: [{ code: 'email_taken' }] }
  return problemsIn(cause)
}
