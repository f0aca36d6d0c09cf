// The form that answers a request. If the request has a key, the sender's browser encrypts the content.

import { MAX_PASSPHRASE_BYTES, type PushLimits } from '../../domain/new-push.ts'
import type { AnswerHeaders } from '../../http/answers.ts'
import { PAGES } from '../../http/urls.ts'
import { fingerprintOfRecipient } from '../../requests/recipient.ts'
import type { AskedRequest } from '../../requests/requests.ts'
import type { Guest } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { Icon } from '../frame/icons.tsx'
import { Flag, fillIn } from '../frame/parts.tsx'
import { PassphraseInput, PayloadInput } from '../frame/push-fields.tsx'
import { NeedsScript, SealedRequired, type SealingScripts } from '../frame/sealing.tsx'
import { Chosen, DropOverlay, Progress } from '../share/create/create-files.tsx'

export type AnswerProps = {
  guest: Guest
  asked: AskedRequest
  /** The e-mail address of an asker who chose to be named. */
  asker: string | null
  limits: PushLimits
  scripts: SealingScripts
  idempotencyKey: string
  payload: string
  /** Set if the form is shown again. */
  refusal: RefusedAnswer | null
}

/** The problems of a refused answer, by the id of the field. */
export type RefusedAnswer = {
  status: number
  message: string
  advice?: string | undefined
  headers?: AnswerHeaders
  problems: Readonly<Record<string, string>>
}

type SealedFormProps = AnswerProps & { recipient: string }

/**
 * The form whose content the sender's browser encrypts. Without scripts the server encrypts it on arrival.
 */
export function SealedForm({ recipient, ...props }: SealedFormProps) {
  const { guest, limits, scripts } = props
  const { words, say } = guest
  const command = 'oncebox answer'
  const key = <Flag>{fingerprintOfRecipient(recipient)}</Flag>
  const otherwise =
    limits.endToEnd === 'required' ? (
      <SealedRequired words={words} command={command} />
    ) : (
      <>
        <AnswerForm {...props} />
        <p class="hint">{fillIn(say('answer_key'), 'key', key)}</p>
      </>
    )
  return (
    <NeedsScript {...{ words, command, otherwise }}>
      <AnswerForm {...props}>
        <p class="with-icon">
          <Icon name="key-round" />
          <span>
            {fillIn(say('sealed_answer'), 'key', key)}{' '}
            <span data-compared>{say('sealed_answer_compare')}</span>
          </span>
        </p>
        <span
          hidden
          data-seals
          data-age={scripts.age}
          data-seal={scripts.seal}
          data-recipient={recipient}
          data-blank={say('problem_blank')}
          data-broken={say('sealed_broken', { command })}
          data-other-key={say('sealed_answer_other')}
          data-same-key={say('sealed_answer_same')}
        />
        <p class="problem" role="alert" hidden data-sealing-told />
      </AnswerForm>
    </NeedsScript>
  )
}

export function AnswerForm(props: AnswerProps & { children?: Children }) {
  const { guest, asked, idempotencyKey, children } = props
  const { words, say } = guest
  return (
    <form
      method="post"
      action={guest.href(`${PAGES.submitAnswer.href({ url_token: asked.urlToken })}?key=${idempotencyKey}`)}
      enctype="multipart/form-data"
      class="create"
      novalidate
    >
      {/* Only for the script: browsers do not send disabled fields. */}
      <input type="hidden" name="push[kind]" value={asked.acceptsFiles ? 'file' : 'text'} disabled />
      <Fields {...props} />
      {children}
      <div class="actions">
        <button type="submit" class="primary large">
          {say('answer_submit')}
        </button>
      </div>
      <Progress words={words} of="answer" />
      <DropOverlay words={words} refusal={asked.acceptsFiles ? null : 'problem_not_asked_list'} />
    </form>
  )
}

/** The passphrase comes first, so that no files are uploaded with a wrong one. */
function Fields({ guest: { words }, asked, limits, payload, refusal }: AnswerProps) {
  const problems: RefusedAnswer['problems'] = refusal?.problems ?? {}
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
          attributes={{
            ...{ autocomplete: 'off', required: true, maxlength: MAX_PASSPHRASE_BYTES },
            autofocus: refusal === null,
          }}
        />
      )}
      {asked.acceptsText && (
        <div class="payload">
          <PayloadInput
            {...{ words, limits }}
            label={say('payload_text')}
            hint={say('answer_text_hint')}
            problem={problems.payload}
            value={payload}
            autofocus={refusal === null && !asked.passphraseRequired}
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
