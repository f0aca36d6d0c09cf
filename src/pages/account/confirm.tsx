// Asks for the password again, and for the code of a second factor, before a form with far-reaching effects
// is processed. An unattended browser or a stolen session must not be enough.

import type { Passkeys } from '../../accounts/passkeys.ts'
import type { Sessions } from '../../accounts/sessions.ts'
import { PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import type { Form } from '../frame/form.ts'
import { leadTo, type Member } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { Notice } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { CodeInput, codeHintOf, PasswordInput, UserName } from './account-fields.tsx'
import { type FormRefusal, orTooMany, tooMany } from './form-card.tsx'
import { PasskeyForm } from './passkey-form.tsx'
import { answerIn, type OnRefused, orRefused, withoutChallenge } from './passkeys.tsx'
import { ProviderLink, type ShownProvider } from './provider-link.tsx'

type ConfirmationOptions = {
  answer: AnswerGuest
  sessions: Pick<
    Sessions,
    'isConfirmed' | 'isNew' | 'allowsPassword' | 'testPassword' | 'isCode' | 'confirm' | 'confirmByCode'
  >
  provider: ShownProvider | null
  passkeys: Pick<Passkeys, 'party' | 'confirm' | 'canAsk'>
  onRefused: OnRefused
}

type ConfirmationState = FormRefusal & { passwordProblem?: string; codeProblem?: string }

/** Why a proof does not confirm the session: it is wrong, there were too many, or the session has ended. */
type Failure = 'too_many' | 'ended' | Pick<ConfirmationState, 'notice' | 'passwordProblem' | 'codeProblem'>

/**
 * Resolves to null if the session is confirmed, otherwise to a page that asks for the password and carries
 * the form.
 */
export type Confirm = (guest: Member, form: Form) => Promise<Response | null>

export function createConfirm(options: ConfirmationOptions): Confirm {
  const { answer, sessions, provider, passkeys, onRefused } = options

  /**
   * Whether the password can confirm the session. It cannot if a provider began the session and the account
   * may not sign in with its password.
   */
  const takesPassword = ({ account, session: { session } }: Member) =>
    account.hasPassword && (session.via === null || sessions.allowsPassword(account))

  /** Whether only a code can confirm the session, because a proxy cannot be asked again. */
  const takesCodeAlone = (guest: Member) =>
    guest.account.hasTwoFactor && !takesPassword(guest) && !provider?.signIn.canConfirm(guest.session)

  /**
   * Whether a passkey can confirm the session directly. If there is a provider, it asks first, and the page
   * after that takes the passkey.
   */
  const takesPasskey = async (guest: Member) =>
    !provider?.signIn.canConfirm(guest.session) && (await passkeys.canAsk(guest.account))

  /**
   * Whether a new session of a provider sets up the first second factor. It needs no confirmation, because a
   * provider that does not say when it asked could give none.
   */
  const isFirstFactor = ({ path, account, session: { session } }: Member) =>
    FIRST_FACTOR.has(path) && session.via !== null && !account.hasTwoFactor && sessions.isNew(session)

  async function testPassword(guest: Member, form: Form): Promise<Failure | null> {
    const { account, session, viewer, say } = guest
    const given = { password: form.text('password'), visit: viewer.visit }
    const tested = await sessions.testPassword(account, given)
    if (tested === null) return { passwordProblem: say('password_wrong') }
    if (account.hasTwoFactor) {
      const code = form.text('code')
      if (code.trim() === '') return { codeProblem: say('problem_blank') }
      if (!(await sessions.isCode(account, code))) return { codeProblem: say('code_wrong') }
    }
    return (await sessions.confirm(session.session, tested)) ? null : 'ended'
  }

  async function testCode({ session, say }: Member, code: string): Promise<Failure | null> {
    return (await sessions.confirmByCode(session, code)) ? null : { codeProblem: say('code_wrong') }
  }

  async function testPasskey(guest: Member, form: Form): Promise<Failure | null> {
    const given = answerIn(guest, form, PASSKEY)
    const result = await orRefused(guest, onRefused, () => passkeys.confirm(guest.session, given))
    if (result === 'confirmed') return null
    if (result === 'ended') return 'ended'
    return { notice: guest.say(result === 'copied' ? 'passkey_copied' : 'passkey_refused') }
  }

  /**
   * Returns a function that checks the form's passkey, code or password; null if the form has none that this
   * session accepts.
   */
  async function findTest(guest: Member, form: Form): Promise<(() => Promise<Failure | null>) | null> {
    if (form.text(PASSKEY) !== '') return (await takesPasskey(guest)) ? () => testPasskey(guest, form) : null
    const code = form.text('code')
    if (takesCodeAlone(guest)) return code.trim() === '' ? null : () => testCode(guest, code)
    return form.text('password') !== '' && takesPassword(guest) ? () => testPassword(guest, form) : null
  }

  async function ask(guest: Member, form: Form, state: ConfirmationState = {}): Promise<Response> {
    const { words, say } = guest
    const party = (await takesPasskey(guest)) ? passkeys.party : null
    const { status = 403, notice, passwordProblem, codeProblem, headers = {} } = state
    const page = pageOfForm(guest.path)
    const title = say('confirm_title')
    const asking = provider?.signIn.canConfirm(guest.session) ? provider : null
    const withPassword = takesPassword(guest)
    const cancel = <a href={guest.href(page.path)}>{say('cancel')}</a>
    const content = (
      <>
        <h1>{title}</h1>
        <p class="lead">{say('confirm_lead', { page: say(page.title) })}</p>
        {notice && <Notice kind="refused">{notice}</Notice>}
        {asking && (
          <>
            <p>{say('provider_confirm', { name: asking.name })}</p>
            <ProviderLink
              guest={guest}
              provider={asking}
              visit={{ purpose: { kind: 'confirm', session: guest.session.session.id }, next: page.path }}
            />
          </>
        )}
        {party !== null && (
          <PasskeyForm
            guest={guest}
            party={party}
            action={guest.path}
            challenge={{ for: 'confirm' }}
            name={PASSKEY}
            label={say('passkey_use')}
          >
            <RepeatedFields guest={guest} form={form} />
          </PasskeyForm>
        )}
        {withPassword || takesCodeAlone(guest) ? (
          <PostForm guest={guest} action={guest.path} look="narrow">
            <RepeatedFields guest={guest} form={form} />
            {withPassword && [
              <UserName guest={guest} />,
              <PasswordInput words={words} problem={passwordProblem} autofocus />,
            ]}
            {guest.account.hasTwoFactor && (
              <CodeInput
                words={words}
                problem={codeProblem}
                hint={codeHintOf(guest.account)}
                attributes={{ autofocus: !withPassword }}
              />
            )}
            <div class="actions">
              <Submit>{say('confirm_submit')}</Submit>
              {cancel}
            </div>
          </PostForm>
        ) : (
          <>
            {asking === null && <p>{say('confirm_needs_factor')}</p>}
            <p>{cancel}</p>
          </>
        )}
      </>
    )
    const script = party === null ? undefined : 'passkey'
    return answer(content, { guest, title, status, headers, languageSwitch: false, script })
  }

  return async (guest, form) => {
    if (sessions.isConfirmed(guest.session.session) || isFirstFactor(guest)) return null
    const test = await findTest(guest, form)
    if (test === null) return ask(guest, form)
    const failure = await orTooMany(test())
    if (failure === null) return null
    if (failure === 'ended') return leadTo(guest, PAGES.signIn.href())
    if (failure === 'too_many') return ask(guest, form, tooMany(guest))
    const again = await ask(guest, form, { status: 422, ...failure })
    return form.text(PASSKEY) === '' ? again : withoutChallenge(guest, again)
  }
}

/** The field of a form to be confirmed that holds a passkey's signature. */
const PASSKEY = 'confirm-passkey'

/** The pages that set up the first second factor. */
const FIRST_FACTOR: ReadonlySet<string> = new Set(
  [PAGES.turnOnTwoFactor, PAGES.newPasskey, PAGES.addPasskey].map((page) => page.href()),
)

/** Upper bound, above the number of fields of any form here. */
const MAX_KEPT = 50

/** The fields of the form to be confirmed, as hidden fields. Passwords and codes must be typed again. */
function RepeatedFields({ guest, form }: { guest: Member; form: Form }) {
  const typedAgain = [
    'form',
    'username',
    'password',
    PASSKEY,
    ...(guest.account.hasTwoFactor ? ['code'] : []),
  ]
  const kept = form.fields.filter(([name]) => !typedAgain.includes(name)).slice(0, MAX_KEPT)
  return kept.map(([name, value]) => <input type="hidden" name={name} value={value} />)
}

/** Returns the page that holds the form. */
function pageOfForm(path: string): { path: string; title: WordKey } {
  const [admin, tokens] = [PAGES.admin.href(), PAGES.tokens.href()]
  if (path.startsWith(admin)) return { path: admin, title: 'admin_title' }
  if (path.startsWith(tokens)) return { path: tokens, title: 'tokens_title' }
  const { linkProvider, unlinkProvider } = PAGES
  if (path === linkProvider.href() || path === unlinkProvider.href())
    return { path: `${PAGES.account.href()}#provider`, title: 'account_title' }
  if (path.startsWith(PAGES.addPasskey.href()))
    return { path: `${PAGES.account.href()}#passkeys`, title: 'passkeys_title' }
  if (path === PAGES.keepRecipient.href())
    return { path: `${PAGES.account.href()}#age-key`, title: 'key_title' }
  return { path: `${PAGES.account.href()}#two-factor`, title: 'two_factor_title' }
}
