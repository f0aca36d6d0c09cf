// Passkeys: challenges for the browser, signing in, adding and removing.

import type { PasskeySignIn, Passkeys } from '../../accounts/passkeys.ts'
import { ProviderError } from '../../accounts/provider-error.ts'
import type { Sessions } from '../../accounts/sessions.ts'
import { MAX_PASSKEY_NAME_LENGTH, passkeyNameOf, type RelyingParty } from '../../domain/passkey.ts'
import { answerJson } from '../../http/answers.ts'
import { PAGES } from '../../http/urls.ts'
import { cookieIn, cookieOf } from '../frame/cookies.ts'
import { Input, maxLengthOf } from '../frame/fields.tsx'
import type { Form } from '../frame/form.ts'
import { type Guest, leadTo, type Member } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { programOf } from '../frame/programs.ts'
import { answerForm, type FormRefusal, orTooMany, tooMany } from './form-card.tsx'
import { PasskeyForm } from './passkey-form.tsx'
import type { createSignInPages } from './sign-in.tsx'
import type { createTwoFactorPages } from './two-factor.tsx'

/** Logs why a request was refused. `err` may quote untrusted text of bounded length. */
export type OnRefused = (refusal: { reason: string; requestId: string; what?: string; err?: unknown }) => void

export type PasskeyPageOptions = {
  answer: AnswerGuest
  passkeys: Passkeys
  sessions: Pick<Sessions, 'readPending'>
  onRefused: OnRefused
}

type SignInPages = Pick<ReturnType<typeof createSignInPages>, 'show' | 'enter' | 'askCode'>

/** The pages before somebody is signed in. */
export function createPasskeySignIn({ passkeys, onRefused, ...options }: PasskeyPageOptions & SignInPages) {
  const { sessions, show, enter, askCode } = options

  /** Answers the script of a page. Sets the cookie that binds the challenge to this browser. */
  async function start(guest: Guest, form: Form): Promise<Response> {
    const begun = await passkeys.start(purposeOf(guest, form))
    if (begun === null) return answerJson(409, { error: 'no-passkey' })
    return answerJson(200, begun.call, {
      'set-cookie': cookieOf(guest, { name: 'passkey', value: begun.cookie }),
    })
  }

  function purposeOf({ session, brand }: Guest, form: Form): Parameters<Passkeys['start']>[0] {
    const [purpose, pending] = [form.text('for'), form.text('pending')]
    if (pending !== '') return { kind: 'second_factor', pending }
    if (session === null || purpose === '') return { kind: 'sign_in' }
    return purpose === 'add' ? { kind: 'add', session, serverName: brand.name } : { kind: 'confirm', session }
  }

  /** Signs in with a passkey: by itself, or as second factor if the form has a pending sign-in. */
  async function submit(guest: Guest, form: Form): Promise<Response> {
    const [pending, next] = [form.text('pending'), form.text('next')]
    const given = answerIn(guest, form)
    const isWaiting = sessions.readPending(pending) !== null
    const again = (state: FormRefusal) =>
      isWaiting
        ? askCode(guest, { status: 422, ...state, pending, next })
        : show(guest, { status: 422, ...state, next })
    const result = await orTooMany(
      orRefused(guest, onRefused, () =>
        pending === '' ? passkeys.signIn(given) : passkeys.confirmSignIn({ ...given, pending }),
      ),
    )
    const response = await (result === 'too_many'
      ? again(tooMany(guest))
      : lead(guest, { result, next, again }))
    return withoutChallenge(guest, response)
  }

  type Again = (state: FormRefusal) => Response | Promise<Response>

  function lead(guest: Guest, asked: { result: PasskeySignIn; next: string; again: Again }) {
    const { result, next, again } = asked
    switch (result.outcome) {
      case 'signed_in':
        return enter(guest, result, next)
      case 'copied':
        return again({ notice: guest.say('passkey_copied') })
      case 'password_needed':
        return again({ notice: guest.say('passkey_beside_password') })
      case 'refused':
        return again({ notice: guest.say('passkey_refused') })
    }
  }

  return { start, submit }
}

type AccountParts = { showCodes: ReturnType<typeof createTwoFactorPages>['showCodes'] }

/** The pages of an account's own passkeys. `party` is null if none can be added. */
export function createPasskeyPages(options: PasskeyPageOptions & AccountParts) {
  const { answer, passkeys, onRefused, showCodes } = options

  const showNew =
    (party: RelyingParty) =>
    (guest: Member, refusal: FormRefusal = {}) => {
      const { say, viewer, words } = guest
      const title = say('passkey_add')
      return answerForm(
        answer,
        { guest, title, languageSwitch: false, script: 'passkey', ...refusal },
        <>
          <p>{say('passkeys_lead', { host: party.id })}</p>
          <p data-passkey-needs>{say('passkey_needs', { url: party.origin })}</p>
          <PasskeyForm
            guest={guest}
            party={party}
            action={PAGES.addPasskey.href()}
            challenge={{ for: 'add' }}
            label={title}
            look="primary"
          >
            <Input
              id="name"
              name="name"
              label={say('token_name')}
              hint={say('passkey_name_hint')}
              value={programOf(viewer.visit.userAgent, words)}
              attributes={{ maxlength: maxLengthOf(MAX_PASSKEY_NAME_LENGTH), autocomplete: 'off' }}
            />
          </PasskeyForm>
          <p>
            <a href={guest.href(`${PAGES.account.href()}#passkeys`)}>{say('cancel')}</a>
          </p>
        </>,
      )
    }

  const add = (party: RelyingParty) => async (guest: Member, form: Form) => {
    const { say, viewer, words } = guest
    const name = passkeyNameOf(form.text('name')) || programOf(viewer.visit.userAgent, words)
    const added = await orRefused(guest, onRefused, () =>
      passkeys.add(guest.session, { ...answerIn(guest, form), name }),
    )
    if (added === 'too_many') return leadTo(guest, `${PAGES.account.href()}#passkeys`)
    if ('outcome' in added)
      return withoutChallenge(guest, showNew(party)(guest, { status: 422, notice: say('passkey_failed') }))
    if (added.codes === null) return leadTo(guest, `${PAGES.account.href()}?done=passkey#passkeys`)
    return showCodes(guest, { codes: added.codes, isPasskey: true })
  }

  async function remove(guest: Member, form: Form): Promise<Response> {
    const id = form.text('id')
    if (/^\d{1,15}$/.test(id)) await passkeys.remove(guest.account, Number(id))
    return leadTo(guest, `${PAGES.account.href()}#passkeys`)
  }

  return { showNew, add, remove }
}

/** Returns the browser's answer, with the cookie of its challenge and the network address. */
export function answerIn(guest: Guest, form: Form, name = 'passkey') {
  return { credential: form.text(name), cookie: cookieIn(guest, 'passkey'), visit: guest.viewer.visit }
}

/** Runs `work`. Turns a ProviderError into a refusal, and logs its reason. */
export async function orRefused<T>(
  { exchange: { requestId } }: Guest,
  onRefused: OnRefused,
  work: () => Promise<T>,
): Promise<T | { outcome: 'refused' }> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof ProviderError)) throw cause
    const { reason, cause: inner } = cause
    const err = inner instanceof Error ? `${inner.name}: ${plain(inner.message)}` : undefined
    onRefused({ reason, requestId, what: 'a passkey', err })
    return { outcome: 'refused' }
  }
}

/** Deletes the cookie of a challenge, which counts only once. */
export function withoutChallenge(guest: Guest, response: Response): Response {
  response.headers.append('set-cookie', cookieOf(guest, { name: 'passkey', value: '' }))
  return response
}

/** Returns a text for the log, which may quote what a stranger has sent. */
function plain(text: string): string {
  return text.slice(0, 200).replace(/[^ -~]/g, '?')
}
