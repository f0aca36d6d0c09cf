// The button that asks the browser for a passkey, and the part of the account page that lists them.

import type { Passkeys } from '../../accounts/passkeys.ts'
import { MAX_PASSKEYS, type RelyingParty } from '../../domain/passkey.ts'
import { PAGES } from '../../http/urls.ts'
import type { Guest, Member } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { Row } from '../frame/lists.tsx'
import { Card, Chip, Moment, withFlag } from '../frame/parts.tsx'
import { ButtonForm, PostForm, Submit } from '../frame/post-form.tsx'

/** The fields of the request for a challenge. */
export type ChallengeFields = { for?: 'confirm' | 'add'; pending?: string }

type PasskeyFormProps = {
  guest: Guest
  party: RelyingParty
  action: string
  hidden?: Readonly<Record<string, string | number>>
  /** The use of the challenge; absent for a sign-in without a password. */
  challenge?: ChallengeFields
  label: string
  /** The name of the field with the signature. */
  name?: string
  look?: 'primary' | 'quiet'
  children?: Children
}

/**
 * A form that a script fills in with the passkey's signature. It stays hidden without the script, and where
 * the browser has no passkeys.
 */
export function PasskeyForm({ guest, party, challenge = {}, label, ...form }: PasskeyFormProps) {
  const { name = 'passkey', look = 'quiet' } = form
  const attributes = {
    ...{ hidden: true, 'data-passkey': guest.href(PAGES.startPasskey.href()), 'data-origin': party.origin },
    ...{ 'data-challenge': `${new URLSearchParams(challenge)}`, 'data-failed': guest.say('passkey_failed') },
  }
  return (
    <PostForm guest={guest} action={form.action} hidden={form.hidden ?? {}} attributes={attributes}>
      <input type="hidden" name={name} data-credential />
      {form.children}
      <Submit look={look}>{label}</Submit>
      <p role="status" />
    </PostForm>
  )
}

type PasskeyCardProps = {
  guest: Member
  passkeys: Passkeys
  listed: Awaited<ReturnType<Passkeys['list']>>
}

/** The passkeys of an account, and what they depend on. */
export function PasskeyCard({ guest, passkeys: { party, hasRoom }, listed }: PasskeyCardProps) {
  const { words, say, account } = guest
  return (
    <Card id="passkeys" title={say('passkeys_title')}>
      {party === null ? (
        <p>{withFlag(say('passkeys_unavailable'), '--base-url')}</p>
      ) : (
        // If there is a passkey already, the page that adds another says this.
        listed.length === 0 && <p>{say('passkeys_lead', { host: party.id })}</p>
      )}
      {listed.length > 0 && (
        <ul class="rows">
          {listed.map((passkey) => (
            <Row
              title={passkey.name}
              beside={passkey.copiedAt !== null && <Chip tone="bad">{say('passkey_copied_chip')}</Chip>}
              action={
                <ButtonForm
                  guest={guest}
                  action={PAGES.removePasskey.href()}
                  hidden={{ id: passkey.id }}
                  look="danger"
                  label={say('passkey_remove')}
                  about={passkey.name}
                />
              }
            >
              <p class="hint">
                {say('created_on')} <Moment at={passkey.createdAt} words={words} />
              </p>
              {passkey.lastUsedAt !== null && (
                <p class="hint">
                  {say('token_last_used')} <Moment at={passkey.lastUsedAt} words={words} />
                </p>
              )}
              {passkey.copiedAt !== null ? (
                <p>{say('passkey_copied')}</p>
              ) : passkey.rpId !== party?.id ? (
                <p>{say('passkey_lost', { host: passkey.rpId })}</p>
              ) : passkey.signsIn ? null : (
                <p>{say('passkey_beside_password')}</p>
              )}
            </Row>
          ))}
        </ul>
      )}
      {party === null ? null : hasRoom(account) ? (
        <ButtonForm guest={guest} action={PAGES.newPasskey.href()} label={say('passkey_add')} />
      ) : (
        <p>{say('passkeys_full', { n: MAX_PASSKEYS })}</p>
      )}
    </Card>
  )
}
