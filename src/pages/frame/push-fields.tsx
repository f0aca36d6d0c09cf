// The fields of pushes and requests: what is sent, its name and note, its passphrase, and the key that it is
// encrypted for.

import { MAX_NAME_CHARACTERS, MAX_NOTE_CHARACTERS, type PushLimits } from '../../domain/new-push.ts'
import type { Words } from '../../words/words.ts'
import {
  Eye,
  type FieldOf,
  type FieldProps,
  Input,
  type InputProps,
  maxLengthOf,
  TextArea,
} from './fields.tsx'

/** For a secret: no browser changes or keeps it, and a script asks before it is left. */
export const UNTOUCHED = {
  autocomplete: 'off',
  autocapitalize: 'off',
  spellcheck: 'false',
  'data-secret': true,
}

type PayloadProps = Pick<FieldProps, 'label' | 'problem'> & {
  words: Words
  limits: Pick<PushLimits, 'payloadBytes'>
  value: string
  autofocus?: boolean
}

/** The text of a push. A script says while it is typed that it is too long. */
export function PayloadInput({ words, limits: { payloadBytes }, autofocus = false, ...field }: PayloadProps) {
  const tooLong = words.say('too_large_typed', { limit: words.bytes(payloadBytes) })
  const limit = { 'data-max-bytes': payloadBytes, 'data-too-long': tooLong }
  return (
    <TextArea
      id="payload"
      name="push[payload]"
      attributes={{ rows: 4, ...UNTOUCHED, ...limit, autofocus }}
      {...field}
    />
  )
}

type LabelProps = ReturnType<FieldOf> & Partial<Pick<FieldProps, 'label' | 'hint'>> & { words: Words }

/** The name of a push, which says whom it is for, unless it is told what else. */
export function NameInput({
  words: { say },
  placeholder = say('name_hint'),
  ...input
}: LabelProps & { placeholder?: string }) {
  const maxlength = maxLengthOf(MAX_NAME_CHARACTERS)
  return <Input label={say('name')} attributes={{ placeholder, maxlength, autocomplete: 'off' }} {...input} />
}

/** A text of some lines: the note of a push, unless it is told what else. */
export function NoteInput({ words: { say }, ...input }: LabelProps) {
  const attributes = { rows: 2, maxlength: maxLengthOf(MAX_NOTE_CHARACTERS) }
  return <TextArea label={say('note')} hint={say('note_hint')} attributes={attributes} {...input} />
}

/** A public key of age. */
export function RecipientInput({
  placeholder = 'age1…',
  ...input
}: Omit<InputProps, 'type' | 'attributes'> & { placeholder?: string | undefined }) {
  const attributes = { dir: 'ltr', placeholder, autocomplete: 'off', spellcheck: 'false' }
  return <Input attributes={attributes} {...input} />
}

/**
 * A passphrase whose characters the style hides until its box is ticked, without a script: nobody can look up
 * a mistyped passphrase, and it would lock out every recipient.
 */
export function PassphraseInput({
  words,
  attributes,
  trailing,
  ...input
}: Omit<InputProps, 'type'> & { words: Words }) {
  const typed = { ...attributes, class: 'masked', spellcheck: 'false', autocapitalize: 'off' }
  return (
    <div class="unseen">
      <Input
        {...input}
        attributes={typed}
        trailing={
          <>
            {trailing}
            <Eye words={words} controls={input.id} />
          </>
        }
      />
    </div>
  )
}
