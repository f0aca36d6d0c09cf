// The page of the signed-in account: second factor, sessions, age key, password and the export.

import type { Passkeys } from '../../accounts/passkeys.ts'
import type { Sessions } from '../../accounts/sessions.ts'
import type { TwoFactor } from '../../accounts/two-factor.ts'
import type { Session } from '../../domain/account.ts'
import type { Problems } from '../../domain/problems.ts'
import { PAGES } from '../../http/urls.ts'
import type { Requests } from '../../requests/requests.ts'
import type { WordKey } from '../../words/words.ts'
import { problemTexts, RefusedFields, readFields, Tick } from '../frame/fields.tsx'
import { type Form, problemsIn, type RefusedForm } from '../frame/form.ts'
import { leadTo, type Member } from '../frame/guest.ts'
import { ExportLinks, Row } from '../frame/lists.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { Card, Chip, Moment, Notice } from '../frame/parts.tsx'
import { ButtonForm, PostForm } from '../frame/post-form.tsx'
import { programOf } from '../frame/programs.ts'
import { RecipientInput } from '../frame/push-fields.tsx'
import { OwnKey, type SealingScripts } from '../frame/sealing.tsx'
import { CodeInput, NewPasswordInput, PasswordInput, UserName } from './account-fields.tsx'
import { AccountTabs } from './account-tabs.tsx'
import { PasskeyCard } from './passkey-form.tsx'
import { ProviderCard, type ShownProvider } from './provider-link.tsx'

export type AccountPageOptions = {
  answer: AnswerGuest
  sessions: Sessions
  twoFactor: TwoFactor
  requests: Pick<Requests, 'findRecipient' | 'keepRecipient'>
  sealingScripts: SealingScripts
  provider: ShownProvider | null
  passkeys: Passkeys
}

/** The notice for each value of `done` in the URL. */
const DONE: Partial<Record<string, WordKey>> = {
  password: 'password_changed',
  'password-revoked': 'password_changed_revoked',
  key: 'key_saved',
  linked: 'provider_is_linked',
  passkey: 'passkey_added',
}

type AccountPageState = {
  passwordProblems?: Problems
  wrongPassword?: 'current' | 'twofactor'
  refusedKey?: RefusedForm
  /** The state of the checkbox when the form was sent; true by default. */
  revoke?: boolean
  status?: number
}

export function createAccountPages(options: AccountPageOptions) {
  const { answer, sessions, twoFactor, requests, sealingScripts: scripts, provider, passkeys } = options

  async function show(guest: Member, state: AccountPageState = {}): Promise<Response> {
    const { say } = guest
    const { status = 200 } = state
    const done = DONE[guest.query.get('done') ?? '']
    const content = (
      <>
        <div class="heading">
          <h1>{say('account_title')}</h1>
          <ButtonForm guest={guest} action={PAGES.signOut.href()} label={say('sign_out')} />
        </div>
        <p class="lead">
          <bdi>{guest.account.email}</bdi>
        </p>
        <AccountTabs guest={guest} current="account" />
        {done && <Notice kind="good">{say(done)}</Notice>}
        <TwoFactorSection
          guest={guest}
          state={state}
          left={await twoFactor.countRecoveryCodes(guest.account)}
          asksCode={!sessions.isConfirmed(guest.session.session)}
        />
        <PasskeyCard {...{ guest, passkeys }} listed={await passkeys.list(guest.account)} />
        {guest.hasNotices && (
          <Card id="notices" title={say('notices_title')}>
            <p>{say('notices_lead')}</p>
            <a class="button quiet" href={guest.href(PAGES.notices.href())}>
              {say('notices_choose')}
            </a>
          </Card>
        )}
        <SessionList guest={guest} listed={await sessions.listSessions(guest.account)} />
        <AgeKeySection
          guest={guest}
          kept={await requests.findRecipient(guest.account)}
          refused={state.refusedKey ?? null}
          scripts={scripts}
        />
        {guest.account.hasPassword && <PasswordForm guest={guest} state={state} />}
        {provider && (
          <ProviderCard {...{ guest, provider }} isLinked={await provider.signIn.isLinked(guest.account)} />
        )}
        <Card id="export" title={say('export_title')}>
          <p>{say('export_lead')}</p>
          <ExportLinks guest={guest} csv={PAGES.listCsv.href()} json={PAGES.listJson.href()} />
        </Card>
      </>
    )
    return answer(content, { guest, title: say('account_title'), status, script: 'strength' })
  }

  async function changePassword(guest: Member, form: Form): Promise<Response> {
    const { visit } = guest.viewer
    const revoke = form.isTicked('revoke')
    const again = { revoke, status: 422 }
    const given = { current: form.text('current'), next: form.text('password'), revoke, visit }
    try {
      if (!(await sessions.changePassword(guest.session, given)))
        return show(guest, { wrongPassword: 'current', ...again })
      return leadTo(guest, `${PAGES.account.href()}?done=${revoke ? 'password-revoked' : 'password'}`)
    } catch (cause) {
      return show(guest, { passwordProblems: problemsIn(cause), ...again })
    }
  }

  async function keepRecipient(guest: Member, form: Form): Promise<Response> {
    try {
      await requests.keepRecipient(guest.account, form.text('recipient'))
    } catch (cause) {
      return show(guest, { refusedKey: { form, problems: problemsIn(cause) }, status: 422 })
    }
    return leadTo(guest, `${PAGES.account.href()}?done=key#age-key`)
  }

  async function endSession(guest: Member, form: Form): Promise<Response> {
    const id = form.text('id')
    if (id === 'others') await sessions.endOtherSessions(guest.account, guest.session.session)
    else if (/^\d{1,15}$/.test(id)) await sessions.endSession(guest.account, Number(id))
    return leadTo(guest, `${PAGES.account.href()}#sessions`)
  }

  return { show: (guest: Member) => show(guest), showAgain: show, changePassword, keepRecipient, endSession }
}

function PasswordForm({ guest, state }: { guest: Member; state: AccountPageState }) {
  const { words, say } = guest
  const texts = problemTexts(state.passwordProblems ?? {}, words)
  const current = state.wrongPassword === 'current' ? say('password_wrong') : undefined
  return (
    <Card id="change-password" title={say('password_title')}>
      <PostForm guest={guest} action={PAGES.changePassword.href()} look="narrow">
        <UserName guest={guest} />
        <RefusedFields problems={{ current, password: texts.password }} words={words} />
        <PasswordInput words={words} id="current" name="current" problem={current} />
        <NewPasswordInput guest={guest} problem={texts.password} />
        <Tick
          id="revoke"
          name="revoke"
          label={say('password_revoke')}
          hint={say(guest.account.isAdmin ? 'password_revoke_admin_hint' : 'password_revoke_hint')}
          isTicked={state.revoke ?? true}
        />
        <button type="submit">{say('password_submit')}</button>
        <p class="hint">{say('password_ends_sessions')}</p>
      </PostForm>
    </Card>
  )
}

type TwoFactorProps = { guest: Member; state: AccountPageState; left: number; asksCode: boolean }

function TwoFactorSection({ guest, state, left, asksCode }: TwoFactorProps) {
  const { words, say, account } = guest
  const problem = state.wrongPassword === 'twofactor' ? say('password_wrong') : undefined
  // Passkeys are the second factor unless there is an authenticator app.
  const isOn = account.passkeys > 0
  return (
    <Card id="two-factor" title={say('two_factor_title')}>
      {account.hasAuthenticator ? (
        <PostForm guest={guest} action={PAGES.turnOffTwoFactor.href()} look="narrow">
          <p>{say('two_factor_on', { n: left })}</p>
          <RefusedFields problems={{ 'two-factor-password': problem }} words={words} />
          {account.hasPassword && <PasswordInput words={words} id="two-factor-password" problem={problem} />}
          {asksCode && <CodeInput words={words} id="two-factor-code" />}
          <button type="submit">{say('two_factor_turn_off')}</button>
        </PostForm>
      ) : (
        <>
          <p>{isOn ? say('passkeys_are_factor', { n: left }) : say('two_factor_off')}</p>
          <a class={isOn ? 'button quiet' : 'button'} href={guest.href(PAGES.twoFactor.href())}>
            {say(isOn ? 'two_factor_add' : 'two_factor_turn_on')}
          </a>
        </>
      )}
    </Card>
  )
}

function SessionList({ guest, listed }: { guest: Member; listed: Session[] }) {
  const { words, say } = guest
  const end = { guest, action: PAGES.endSession.href() }
  return (
    <Card id="sessions" title={say('sessions_title')}>
      <ul class="rows">
        {listed.map(({ id, ip, userAgent, lastSeenAt }) => (
          <Row
            title={<span dir={words.direction}>{programOf(userAgent, words)}</span>}
            tooltip={userAgent}
            beside={id === guest.session.session.id && <Chip tone="good">{say('session_this')}</Chip>}
            action={
              id !== guest.session.session.id && (
                <ButtonForm {...end} hidden={{ id }} label={say('session_end')} />
              )
            }
          >
            <p class="hint">
              <bdi dir="ltr">{ip}</bdi> · {say('session_last_seen')} <Moment at={lastSeenAt} words={words} />
            </p>
          </Row>
        ))}
      </ul>
      {listed.length > 1 && (
        <>
          <ButtonForm {...end} hidden={{ id: 'others' }} label={say('session_end_others')} />
          <p class="hint">{say('session_end_others_hint')}</p>
        </>
      )}
    </Card>
  )
}

type SectionProps = {
  guest: Member
  kept: string | null
  refused: RefusedForm | null
  scripts: SealingScripts
}

function AgeKeySection({ guest, kept, refused, scripts }: SectionProps) {
  const { words, say } = guest
  const { texts, field } = readFields(refused, words, { recipient: kept })
  return (
    <Card id="age-key" title={say('key_title')}>
      <p>{say('key_lead')}</p>
      <details open={kept !== null || refused !== null}>
        <summary>{say('key_use')}</summary>
        <Notice kind="low">{say('key_warning')}</Notice>
        <OwnKey {...{ scripts, words, recipient: null }}>
          <button type="button" data-makes-key>
            {say('key_make')}
          </button>
        </OwnKey>
        <PostForm guest={guest} action={PAGES.keepRecipient.href()} look="narrow">
          <RefusedFields problems={texts} words={words} />
          <RecipientInput {...field('recipient')} label={say('key_field')} hint={say('key_field_hint')} />
          <button type="submit">{say('key_save')}</button>
        </PostForm>
      </details>
    </Card>
  )
}
