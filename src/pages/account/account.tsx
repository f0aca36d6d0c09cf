// The page of the signed-in account: password, second factor, sessions, API tokens.

import type { Sessions } from '../../accounts/sessions.ts'
import type { TwoFactor } from '../../accounts/two-factor.ts'
import type { Session } from '../../domain/account.ts'
import { isDomainError } from '../../domain/errors.ts'
import type { Problems } from '../../domain/problems.ts'
import { answerSeeOther } from '../../http/answers.ts'
import { PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import {
  ButtonForm,
  FormToken,
  Input,
  NewPasswordInput,
  problemTexts,
  RefusedFields,
  Tick,
} from '../frame/fields.tsx'
import type { Form } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { Chip, Moment, Notice } from '../frame/parts.tsx'
import { programOf } from '../frame/programs.ts'
import { AccountTabs } from './account-tabs.tsx'
import { ListExportSection } from './list-export.tsx'

export type AccountPageOptions = {
  answer: AnswerGuest
  sessions: Sessions
  twoFactor: TwoFactor
}

/** The notice for each value of `done` in the address. */
const DONE: Partial<Record<string, WordKey>> = {
  password: 'password_changed',
  'password-revoked': 'password_changed_revoked',
}

type Shown = {
  passwordProblems?: Problems
  wrongPassword?: 'current' | 'twofactor'
  /** Whether the box was ticked; ticked at first. */
  revoke?: boolean
  status?: number
}

export function createAccountPages({ answer, sessions, twoFactor }: AccountPageOptions) {
  async function show(guest: Member, shown: Shown = {}): Promise<Response> {
    const { say } = guest.words
    const { status = 200 } = shown
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
        <AccountTabs guest={guest} shown="account" />
        {done === undefined ? null : (
          <Notice kind="good">
            <p>{say(done)}</p>
          </Notice>
        )}
        <PasswordForm guest={guest} shown={shown} />
        <TwoFactorSection
          guest={guest}
          shown={shown}
          left={await twoFactor.countRecoveryCodes(guest.account)}
          asksCode={!sessions.isConfirmed(guest.session.session)}
        />
        <SessionList guest={guest} listed={await sessions.listSessions(guest.account)} />
        <ListExportSection guest={guest} />
      </>
    )
    return answer(content, { guest, title: say('account_title'), status, scripts: ['common'] })
  }

  async function changePassword(guest: Member, form: Form): Promise<Response> {
    const { visit } = guest.viewer
    const revoke = form.isTicked('revoke')
    const again = { revoke, status: 422 }
    const given = { current: form.text('current'), next: form.text('password'), revoke, visit }
    try {
      if (!(await sessions.changePassword(guest.session, given)))
        return show(guest, { wrongPassword: 'current', ...again })
      return answerSeeOther(
        guest.href(`${PAGES.account.href()}?done=${revoke ? 'password-revoked' : 'password'}`),
      )
    } catch (cause) {
      if (!isDomainError(cause, 'invalid')) throw cause
      return show(guest, { passwordProblems: cause.details.problems ?? {}, ...again })
    }
  }

  async function endSession(guest: Member, form: Form): Promise<Response> {
    const id = form.text('id')
    if (id === 'others') await sessions.endOtherSessions(guest.account, guest.session.session)
    else if (/^\d{1,15}$/.test(id)) await sessions.endSession(guest.account, Number(id))
    return answerSeeOther(guest.href(`${PAGES.account.href()}#sessions`))
  }

  return { show: (guest: Member) => show(guest), showAgain: show, changePassword, endSession }
}

function PasswordForm({ guest, shown }: { guest: Member; shown: Shown }) {
  const { say } = guest.words
  const texts = problemTexts(shown.passwordProblems ?? {}, guest.words)
  const current = shown.wrongPassword === 'current' ? say('password_wrong') : undefined
  return (
    <section class="card" aria-labelledby="password-title">
      <h2 id="password-title">{say('password_title')}</h2>
      <form method="post" action={guest.href(PAGES.changePassword.href())} class="narrow">
        <FormToken guest={guest} />
        <input type="hidden" name="username" value={guest.account.email} autocomplete="username" />
        <RefusedFields problems={{ current, password: texts.password }} words={guest.words} />
        <Input
          id="current"
          name="current"
          type="password"
          label={say('password_current')}
          problem={current}
          attributes={{ autocomplete: 'current-password', required: true }}
        />
        <NewPasswordInput words={guest.words} problem={texts.password} />
        <Tick
          id="revoke"
          name="revoke"
          label={say('password_revoke')}
          hint={say(guest.account.isAdmin ? 'password_revoke_admin_hint' : 'password_revoke_hint')}
          isTicked={shown.revoke ?? true}
        />
        <button type="submit">{say('password_submit')}</button>
        <p class="hint">{say('password_ends_sessions')}</p>
      </form>
    </section>
  )
}

type TwoFactorProps = { guest: Member; shown: Shown; left: number; asksCode: boolean }

function TwoFactorSection({ guest, shown, left, asksCode }: TwoFactorProps) {
  const { say } = guest.words
  const { hasTwoFactor } = guest.account
  const problem = shown.wrongPassword === 'twofactor' ? say('password_wrong') : undefined
  return (
    <section class="card" aria-labelledby="two-factor-title" id="two-factor">
      <h2 id="two-factor-title">{say('two_factor_title')}</h2>
      {hasTwoFactor ? (
        <form method="post" action={guest.href(PAGES.turnOffTwoFactor.href())} class="narrow">
          <FormToken guest={guest} />
          <p>{say('two_factor_on', { n: left })}</p>
          <RefusedFields problems={{ 'two-factor-password': problem }} words={guest.words} />
          <Input
            id="two-factor-password"
            name="password"
            type="password"
            label={say('password_current')}
            problem={problem}
            attributes={{ autocomplete: 'current-password', required: true }}
          />
          {asksCode ? (
            <Input
              id="two-factor-code"
              name="code"
              label={say('code')}
              hint={say('code_hint')}
              attributes={{ autocomplete: 'one-time-code', required: true }}
            />
          ) : null}
          <button type="submit">{say('two_factor_turn_off')}</button>
        </form>
      ) : (
        <>
          <p>{say('two_factor_off')}</p>
          <a class="button" href={guest.href(PAGES.twoFactor.href())}>
            {say('two_factor_turn_on')}
          </a>
        </>
      )}
    </section>
  )
}

function SessionList({ guest, listed }: { guest: Member; listed: Session[] }) {
  const { words } = guest
  const { say } = words
  return (
    <section class="card" aria-labelledby="sessions-title" id="sessions">
      <h2 id="sessions-title">{say('sessions_title')}</h2>
      <ul class="rows">
        {listed.map(({ id, ip, userAgent, lastSeenAt }) => (
          <li>
            <div>
              <strong title={userAgent}>
                <bdi>{programOf(userAgent, words)}</bdi>
              </strong>{' '}
              {id === guest.session.session.id ? <Chip tone="good">{say('session_this')}</Chip> : null}
              <p class="hint">
                <bdi>{ip}</bdi> · {say('session_last_seen')} <Moment at={lastSeenAt} words={words} />
              </p>
            </div>
            {id === guest.session.session.id ? null : (
              <form method="post" action={guest.href(PAGES.endSession.href())} class="inline">
                <FormToken guest={guest} />
                <input type="hidden" name="id" value={id} />
                <button type="submit" class="quiet">
                  {say('session_end')}
                </button>
              </form>
            )}
          </li>
        ))}
      </ul>
      {listed.length > 1 ? (
        <form method="post" action={guest.href(PAGES.endSession.href())} class="inline">
          <FormToken guest={guest} />
          <input type="hidden" name="id" value="others" />
          <button type="submit" class="quiet">
            {say('session_end_others')}
          </button>
        </form>
      ) : null}
    </section>
  )
}
