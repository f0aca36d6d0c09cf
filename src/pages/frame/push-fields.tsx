// The fields of pushes and requests: payload, name, note, passphrase and age recipient.

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

/**
 * Attributes of a field for a secret: browsers neither change nor store it, and a script asks before leaving
 * the page.
 */
export const UNTOUCHED = {
  autocomplete: 'off',
  autocapitalize: 'off',
  spellcheck: 'false',
  'data-secret': true,
}

type PayloadProps = Pick<FieldProps, 'label' | 'hint' | 'problem'> & {
  words: Words
  limits: Pick<PushLimits, 'payloadBytes'>
  value: string
  autofocus?: boolean
}

/** The text of a push. A script reports while typing that it is too long. */
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

/** The name of a push, by default with the label "For whom". */
export function NameInput({
  words: { say },
  placeholder = say('name_hint'),
  ...input
}: LabelProps & { placeholder?: string }) {
  const maxlength = maxLengthOf(MAX_NAME_CHARACTERS)
  return <Input label={say('name')} attributes={{ placeholder, maxlength, autocomplete: 'off' }} {...input} />
}

/** A field of several lines, by default for the note of a push. */
export function NoteInput({ words: { say }, ...input }: LabelProps) {
  const attributes = { rows: 2, maxlength: maxLengthOf(MAX_NOTE_CHARACTERS) }
  return <TextArea label={say('note')} hint={say('note_hint')} attributes={attributes} {...input} />
}

/** A field for an age recipient (a public key). */
export function RecipientInput({
  placeholder = 'age1…',
  ...input
}: Omit<InputProps, 'type' | 'attributes'> & { placeholder?: string | undefined }) {
  const attributes = { dir: 'ltr', placeholder, autocomplete: 'off', spellcheck: 'false' }
  return <Input attributes={attributes} {...input} />
}

/**
 * A passphrase field. The style sheet masks it until its box is ticked, without a script. So the sender can
 * check it; a mistyped passphrase cannot be looked up and would lock out every recipient.
 */
export function PassphraseInput(props: Omit<InputProps, 'type'> & { words: Words }) {
  const { words, attributes, trailing, ...input } = props
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
