// Views of a secret link before it is opened, and when it is gone, locked or deleted.

import { isEndedByTries, isEndToEnd, type Push, viewsRemaining } from '../../domain/push.ts'
import { PAGES, secretHref } from '../../http/urls.ts'
import type { WordKey, Words } from '../../words/words.ts'
import { Assurances, Contact, sayHost } from '../frame/brand.tsx'
import { Input } from '../frame/fields.tsx'
import type { Guest } from '../frame/guest.ts'
import { type Children, oncePerLanguage } from '../frame/html.ts'
import { OpeningsLeft } from '../frame/openings.tsx'
import { Address, EmblemCard, fillIn, Moment, Notice } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { PassphraseInput } from '../frame/push-fields.tsx'
import type { SealingScripts } from '../frame/sealing.tsx'
import { SealedForm } from './sealed-form.tsx'

type ReceiveProps = ReceiveFormProps & {
  /** The notice about an earlier press. */
  notice: string | undefined
  /** The e-mail address of a sender who chose to be named. */
  sender: string | null
}

/**
 * Explains what the link is and how often it can be opened, and that this page never asks for a password of
 * the recipient's own accounts.
 */
export function Receive({ notice, sender, ...form }: ReceiveProps) {
  const { guest, push, isOwner = false } = form
  const { words, say } = guest
  return (
    <EmblemCard icon="lock" title={say(titleOf({ isOwner, sender }))}>
      {!isOwner && sender !== null && (
        <p class="lead">{fillIn(say('receive_sender'), 'address', <Address>{sender}</Address>)}</p>
      )}
      {isOwner ? <Own {...form} /> : <p class="lead">{sayHost('receive_lead', guest)}</p>}
      {isEndToEnd(push) && <p>{say('sealed_lead')}</p>}
      {notice && <Notice kind="plain">{notice}</Notice>}
      {!isOwner && viewsRemaining(push) === 1 && (
        <Notice kind="low">
          <p>
            <strong>{say(push.expireAfterViews === 1 ? 'receive_once' : 'receive_last')}</strong>
          </p>
        </Notice>
      )}
      {!isOwner && <OpeningsLeft push={push} words={words} />}
      <ReceiveForm {...form} />
      {!isOwner && (
        <Assurances
          guest={guest}
          of={[
            ['shield-check', say(push.passphraseRequired ? 'receive_safe_passphrase' : 'receive_safe')],
            ['clock', fillIn(say('receive_until'), 'until', <Moment at={push.expiresAt} words={words} />)],
          ]}
        />
      )}
    </EmblemCard>
  )
}

function titleOf({ isOwner, sender }: { isOwner: boolean; sender: string | null }): WordKey {
  if (isOwner) return 'receive_owner_title'
  return sender === null ? 'receive_title' : 'receive_page'
}

function Own({ guest: { words, href }, urlToken }: ReceiveFormProps) {
  return (
    <>
      <p class="lead">{words.say('receive_owner')}</p>
      <p>
        <a href={href(PAGES.push.href({ url_token: urlToken }))}>{words.say('receive_owner_go')}</a>
      </p>
    </>
  )
}

/** Explains secret links to first-time and unexpecting recipients. */
export const explained = oncePerLanguage(({ say }) => (
  <div class="how-it-works">
    <details>
      <summary>{say('receive_how')}</summary>
      <ul>
        <li>{say('receive_how_link')}</li>
        <li>{say('receive_how_open')}</li>
        <li>{say('receive_how_ask')}</li>
      </ul>
    </details>
    <p class="hint">{say('receive_wary')}</p>
  </div>
))

/**
 * The page of a push that is gone. Missing, purged and expired pushes look alike, except if wrong passphrases
 * or a restore ended the push. After a restore it does not warn that another person may have opened the link.
 */
export function Gone({ guest, push }: { guest: Guest; push: Push | null }) {
  const { say } = guest
  const isLost = push?.lost === true
  const isGuessed = !isLost && push !== null && isEndedByTries(push)
  const icon = isLost ? 'history' : isGuessed ? 'triangle-alert' : 'hourglass'
  return (
    <EmblemCard icon={icon} tone="gone" title={say('gone_title')}>
      <p>{say(isLost ? 'gone_lost' : isGuessed ? 'gone_tries' : 'gone_text')}</p>
      <p>
        <strong>{say(isLost ? 'gone_lost_again' : isGuessed ? 'gone_tries_not_you' : 'gone_not_you')}</strong>
      </p>
      {!isLost && <p>{say('gone_again')}</p>}
      <Contact guest={guest} />
    </EmblemCard>
  )
}

type WaitProps = { guest: Guest; seconds: number; words?: 'passphrase_locked' | 'push_code_locked' }

/** Shows how long passphrases or codes are refused. A script counts down. */
export function Wait({ guest, seconds, words: key = 'passphrase_locked' }: WaitProps) {
  const { words } = guest
  const forms = JSON.stringify(words.forms(key))
  return (
    <span data-waits={seconds} data-forms={forms}>
      {words.say(key, { n: seconds })}
    </span>
  )
}

type LockedProps = { guest: Guest; push: Push; urlToken: string; isOwner: boolean }

/** Shown instead of the form after too many wrong passphrases. */
export function Locked({ guest, push, urlToken, isOwner }: LockedProps) {
  const { say } = guest
  return (
    <EmblemCard icon="lock" tone="bad" title={say('locked_title')}>
      <p>{say(push.ownerId === null ? 'locked_for_good' : isOwner ? 'locked_owner' : 'locked_text')}</p>
      {isOwner ? (
        <p>
          <a class="button primary" href={guest.href(PAGES.push.href({ url_token: urlToken }))}>
            {say('locked_go')}
          </a>
        </p>
      ) : (
        <Contact guest={guest} />
      )}
    </EmblemCard>
  )
}

/** Confirms that the recipient deleted the push. */
export function Deleted({ words: { say } }: { words: Words }) {
  return (
    <EmblemCard icon="trash-2" tone="gone" title={say('expired_title')}>
      <p>{say('expired_text')}</p>
    </EmblemCard>
  )
}

type ReceiveFormProps = {
  guest: Guest
  push: Push
  urlToken: string
  nonce: string
  /** The problem with the passphrase. */
  problem?: Children | undefined
  codeProblem?: Children | undefined
  isOwner?: boolean
  /** Whether the page already says that opening uses up a view. The form then does not. */
  saysCost?: boolean
  /** The scripts that decrypt an end-to-end push; null for the form of a preview. */
  scripts: SealingScripts | null
}

/** The form that opens the push. */
function ReceiveForm(props: ReceiveFormProps) {
  const { guest, push, urlToken, nonce, problem, codeProblem, scripts } = props
  const { isOwner = false, saysCost = false } = props
  const { say } = guest
  // The listener for recipients has only one path for the button.
  const action = guest.exchange.isOutside
    ? PAGES.reveal.href({ url_token: urlToken })
    : secretHref({ push, urlToken })
  const form = (
    <PostForm guest={guest} action={action} hidden={{ nonce }} isOnce>
      {push.retrievalStep && !isOwner && !saysCost && viewsRemaining(push) > 1 && (
        <p>{say('receive_step')}</p>
      )}
      {push.codeRequired && !isOwner && (
        <Input
          id="code"
          name="code"
          label={say('push_code')}
          hint={say('receive_code_hint')}
          problem={codeProblem}
          attributes={{
            ...{ inputmode: 'numeric', maxlength: 2, dir: 'ltr', autocomplete: 'off', required: true },
            autofocus: codeProblem !== undefined,
          }}
        />
      )}
      {push.passphraseRequired && (
        <PassphraseInput
          words={guest.words}
          id="passphrase"
          name="passphrase"
          label={say('passphrase')}
          hint={isOwner ? undefined : say('receive_passphrase_hint')}
          problem={problem}
          attributes={{ autocomplete: 'off', required: true, autofocus: problem !== undefined }}
        />
      )}
      <Submit look="primary large">{say('receive_submit')}</Submit>
    </PostForm>
  )
  if (isEndToEnd(push)) return scripts === null ? form : <SealedForm {...{ guest, push, scripts, form }} />
  return (
    <>
      <p class="notice bad" hidden data-refuses-key>
        {say('sealed_key_unused')}
      </p>
      {form}
    </>
  )
}
