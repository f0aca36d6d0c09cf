// The form of a secret link, which opens the push when it is sent.

import { type Push, viewsRemaining } from '../../domain/push.ts'
import { secretHref } from '../../http/urls.ts'
import { PassphraseInput } from '../frame/fields.tsx'
import type { Guest } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { PostForm, Submit } from '../frame/post-form.tsx'

export type ReceiveFormProps = {
  guest: Guest
  push: Push
  urlToken: string
  nonce: string
  /** The problem with the passphrase. */
  problem?: Children | undefined
  isOwner?: boolean
  /** The form itself need not say that opening uses up a view, because the page says it. */
  saysCost?: boolean
  /** Keeps ids unique where a page has two of these forms. */
  idPrefix?: string
}

export function ReceiveForm(props: ReceiveFormProps) {
  const { guest, push, urlToken, nonce, problem, isOwner = false, saysCost = false, idPrefix = '' } = props
  const { say } = guest.words
  return (
    <PostForm guest={guest} action={secretHref({ push, urlToken })} hidden={{ nonce }} isOnce>
      {push.retrievalStep && !isOwner && !saysCost && viewsRemaining(push) > 1 && (
        <p>{say('receive_step')}</p>
      )}
      {push.passphraseRequired && (
        <PassphraseInput
          words={guest.words}
          id={`${idPrefix}passphrase`}
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
}
