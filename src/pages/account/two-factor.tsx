// Turns a second factor on and off: the secret for an authenticator app, a first code, then the recovery
// codes.

import type { Passkeys } from '../../accounts/passkeys.ts'
import type { Sessions } from '../../accounts/sessions.ts'
import type { TwoFactor } from '../../accounts/two-factor.ts'
import { isOutage } from '../../domain/errors.ts'
import { PAGES } from '../../http/urls.ts'
import { RefusedFields } from '../frame/fields.tsx'
import type { Form } from '../frame/form.ts'
import { leadTo, type Member } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { CopyButton, Notice } from '../frame/parts.tsx'
import { ButtonForm, PostForm, Submit } from '../frame/post-form.tsx'
import { QrCode } from '../frame/qr.tsx'
import type { createAccountPages } from './account.tsx'
import { CodeInput, PasswordInput } from './account-fields.tsx'
import { AccountTabs } from './account-tabs.tsx'

type TwoFactorPageOptions = {
  answer: AnswerGuest
  sessions: Pick<Sessions, 'isPassword' | 'endOtherSessions'>
  twoFactor: TwoFactor
  passkeys: Pick<Passkeys, 'party' | 'hasRoom'>
  requireSecondFactor: boolean
  showAccount: ReturnType<typeof createAccountPages>['showAgain']
}

const CODES_FILE = 'oncebox-recovery-codes.txt'

type Offer = { secret: string; uri: string }

export function createTwoFactorPages(options: TwoFactorPageOptions) {
  const { answer, sessions, twoFactor, passkeys, requireSecondFactor, showAccount } = options

  async function show(
    guest: Member,
    again?: { offer: Offer; problem?: string; passwordProblem?: string },
  ): Promise<Response> {
    if (guest.account.hasAuthenticator) return leadTo(guest, `${PAGES.account.href()}#two-factor`)
    const { words, say } = guest
    const holder = { session: guest.session.session, issuer: issuerOf(guest) }
    const { secret, uri } = again?.offer ?? (await twoFactor.offer(guest.account, holder))
    const content = (
      <>
        <h1>{say('two_factor_setup')}</h1>
        {requireSecondFactor ? (
          <Notice kind="plain">{say('two_factor_required')}</Notice>
        ) : (
          <AccountTabs guest={guest} current={null} />
        )}
        <ol class="steps">
          <li>
            <p>{say('two_factor_scan')}</p>
            <QrCode text={uri} label={say('two_factor_qr')} />
            <p>{say('two_factor_type')}</p>
            <p>
              <code id="secret">{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
            </p>
            <p class="actions">
              <CopyButton target="secret" text={secret} words={words} />
              <a class="button quiet" href={uri}>
                {say('two_factor_open')}
              </a>
            </p>
          </li>
          <li>
            <PostForm guest={guest} action={PAGES.turnOnTwoFactor.href()} hidden={{ secret }} look="narrow">
              <RefusedFields
                problems={{ code: again?.problem, password: again?.passwordProblem }}
                words={words}
              />
              <CodeInput
                words={words}
                hint="two_factor_code_hint"
                problem={again?.problem}
                attributes={{ inputmode: 'numeric', autofocus: again === undefined }}
              />
              {guest.account.hasPassword && <PasswordInput words={words} problem={again?.passwordProblem} />}
              <Submit>{say('two_factor_turn_on')}</Submit>
            </PostForm>
          </li>
        </ol>
        {passkeys.party !== null && passkeys.hasRoom(guest.account) && (
          <>
            <p>{say('two_factor_or_passkey')}</p>
            <ButtonForm guest={guest} action={PAGES.newPasskey.href()} label={say('passkey_add')} />
          </>
        )}
      </>
    )
    const status = again === undefined ? 200 : 422
    return answer(content, { guest, title: say('two_factor_setup'), status })
  }

  async function turnOn(guest: Member, form: Form): Promise<Response> {
    const secret = form.text('secret')
    const offer = twoFactor.offerAgain(secret, guest.account, issuerOf(guest))
    if (offer === null || guest.account.hasAuthenticator) return show(guest)
    const { say } = guest
    if (!(await isPassword(guest, form)))
      return show(guest, { offer, passwordProblem: say('password_wrong') })
    const codes = await twoFactor.turnOn(guest.account, { secret, code: form.text('code') })
    if (codes === null) return show(guest, { offer, problem: say('code_wrong') })
    return showCodes(guest, { codes })
  }

  type RecoveryCodes = { codes: string[]; isPasskey?: boolean }

  /** Ends the other sessions, because they began without the second factor, and shows the recovery codes. */
  async function showCodes(guest: Member, { codes, isPasskey = false }: RecoveryCodes): Promise<Response> {
    // This is the only time the codes can be shown, so an outage while the other sessions are ended must not
    // hide them.
    const areOthersEnded = await sessions.endOtherSessions(guest.account, guest.session.session).then(
      () => true,
      (cause) => {
        if (isOutage(cause)) return false
        throw cause
      },
    )
    const { say } = guest
    const content = (
      <>
        <h1>{say('recovery_title')}</h1>
        <Notice kind="good">{say(isPasskey ? 'passkey_is_factor' : 'two_factor_is_on')}</Notice>
        {areOthersEnded ? null : <Notice kind="bad">{say('two_factor_others')}</Notice>}
        <p>{say('recovery_lead')}</p>
        <pre id="codes">{codes.join('\n')}</pre>
        <p class="actions">
          <CopyButton target="codes" words={guest.words} />
          <a class="button quiet" href={`data:text/plain,${codes.join('%0A')}%0A`} download={CODES_FILE}>
            <Icon name="save" />
            <span>{say('recovery_save')}</span>
          </a>
        </p>
        <p>
          <a class="button primary" href={guest.href(PAGES.account.href())}>
            {say('recovery_done')}
          </a>
        </p>
      </>
    )
    return answer(content, {
      guest,
      title: say('recovery_title'),
      languageSwitch: false,
    })
  }

  /** Checks the typed password, because an unattended browser is not enough. */
  async function isPassword({ account, viewer }: Member, form: Form): Promise<boolean> {
    // If there is no password, the provider has confirmed the session.
    if (!account.hasPassword) return true
    return sessions.isPassword(account, { password: form.text('password'), visit: viewer.visit })
  }

  async function turnOff(guest: Member, form: Form): Promise<Response> {
    if (!(await isPassword(guest, form)))
      return showAccount(guest, { wrongPassword: 'twofactor', status: 422 })
    await twoFactor.turnOff(guest.account)
    return leadTo(guest, `${PAGES.account.href()}#two-factor`)
  }

  return { show: (guest: Member) => show(guest), turnOn, turnOff, showCodes }
}

/** Returns the name of this instance in the authenticator app. */
function issuerOf({ exchange }: Member): string {
  return `Oncebox ${URL.canParse(exchange.baseUrl) ? new URL(exchange.baseUrl).hostname : ''}`.trim()
}
