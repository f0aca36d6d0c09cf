// What somebody sees who has the link of a request: the form that answers it, that it has arrived, or that nothing can be sent.

import { MAX_PASSPHRASE_BYTES, type PushLimits } from '../../domain/new-push.ts'
import type { AnswerHeaders } from '../../http/answers.ts'
import { PAGES } from '../../http/urls.ts'
import { fingerprintOfRecipient } from '../../requests/recipient.ts'
import type { AskedRequest } from '../../requests/requests.ts'
import { Assurances, Contact, sayHost } from '../frame/brand.tsx'
import type { Guest } from '../frame/guest.ts'
import { EmblemCard, Flag, fillIn, Moment, Notice } from '../frame/parts.tsx'
import { PassphraseInput, PayloadInput } from '../frame/push-fields.tsx'
import { Chosen, DropOverlay, Progress } from '../share/create/create-files.tsx'

export type AnswerProps = {
  guest: Guest
  asked: AskedRequest
  limits: PushLimits
  idempotencyKey: string
  payload: string
  /** Why the form is shown again. */
  why: Why | null
}

/** What was wrong with an answer; problems by the id of the field. */
export type Why = {
  status: number
  message: string
  advice?: string | undefined
  headers?: AnswerHeaders
  problems: Readonly<Record<string, string>>
}

export function Answer(props: AnswerProps) {
  const { guest, asked, why, idempotencyKey } = props
  const { recipient, expiresAt } = asked
  const { words, say } = guest
  return (
    <EmblemCard icon="inbox" title={say('answer_title')}>
      {asked.message !== '' && (
        <section aria-label={say('answer_asked')}>
          <pre class="prose" dir="auto">
            {`\n${asked.message}`}
          </pre>
        </section>
      )}
      <p>{sayHost('answer_lead', guest)}</p>
      {why && (
        <Notice kind="refused">
          <p>{why.message}</p>
          {why.advice && <p>{why.advice}</p>}
        </Notice>
      )}
      <form
        method="post"
        action={guest.href(`${PAGES.submitAnswer.href({ url_token: asked.urlToken })}?key=${idempotencyKey}`)}
        enctype="multipart/form-data"
        class="create"
        novalidate
      >
        {/* For the script alone: what is disabled is not sent. */}
        <input type="hidden" name="push[kind]" value={asked.acceptsFiles ? 'file' : 'text'} disabled />
        <Fields {...props} />
        <div class="actions">
          <button type="submit" class="primary large">
            {say('answer_submit')}
          </button>
        </div>
        <Progress words={words} of="answer" />
        <DropOverlay words={words} refusal={asked.acceptsFiles ? null : 'problem_not_asked_list'} />
      </form>
      <Assurances
        guest={guest}
        of={[
          ['shield-check', say('answer_safe')],
          recipient !== null && [
            'key-round',
            fillIn(say('answer_key'), 'key', <Fingerprint of={recipient} />),
          ],
          ['clock', fillIn(say('answer_until'), 'until', <Moment at={expiresAt} words={words} />)],
        ]}
      />
    </EmblemCard>
  )
}

/** The passphrase first: whoever does not know it sends no files in vain. */
function Fields({ guest: { words }, asked, limits, payload, why }: AnswerProps) {
  const problems: Why['problems'] = why?.problems ?? {}
  const { say } = words
  return (
    <>
      {asked.passphraseRequired && (
        <PassphraseInput
          words={words}
          id="passphrase"
          name="push[passphrase]"
          label={say('passphrase')}
          hint={say('answer_passphrase_hint')}
          problem={problems.passphrase}
          attributes={{ autocomplete: 'off', required: true, maxlength: MAX_PASSPHRASE_BYTES }}
        />
      )}
      {asked.acceptsText && (
        <div class="payload">
          <PayloadInput
            {...{ words, limits }}
            label={say('payload_text')}
            problem={problems.payload}
            value={payload}
          />
        </div>
      )}
      {asked.acceptsFiles && (
        <div>
          <Chosen words={words} limits={limits} problem={problems.files} />
        </div>
      )}
    </>
  )
}

/** Of a public key, for people to compare. */
export function Fingerprint({ of: recipient }: { of: string }) {
  return <Flag>{fingerprintOfRecipient(recipient)}</Flag>
}

export function Arrived({ guest: { words } }: { guest: Guest }) {
  return (
    <EmblemCard icon="check" tone="good" title={words.say('answer_sent_title')}>
      <p>{words.say('answer_sent')}</p>
    </EmblemCard>
  )
}

export function Over({ guest }: { guest: Guest }) {
  const { say } = guest
  return (
    <EmblemCard icon="hourglass" tone="gone" title={say('gone_title')}>
      <p>{say('answer_over')}</p>
      <Contact guest={guest} />
    </EmblemCard>
  )
}
