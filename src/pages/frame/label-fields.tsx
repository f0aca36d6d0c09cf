// The fields for the name and the note of a push, which only its owner sees.

import { MAX_NAME_CHARACTERS, MAX_NOTE_CHARACTERS } from '../../domain/new-push.ts'
import type { Guest } from './guest.ts'
import { Field, Input, maxLengthOf } from './parts.tsx'

export type LabelFieldsProps = {
  guest: Guest
  /** The name of the field in the form for each label. */
  fields: { name: string; note: string }
  values: { name: string; note: string }
  /** The problems, by field. */
  texts: Record<string, string>
  noteRows: number
}

export function LabelFields({ guest, fields, values, texts, noteRows }: LabelFieldsProps) {
  const { say } = guest.words
  return (
    <>
      <Input
        id="name"
        name={fields.name}
        label={say('name')}
        hint={say('name_hint')}
        problem={texts.name}
        value={values.name}
        attributes={{ maxlength: maxLengthOf(MAX_NAME_CHARACTERS), autocomplete: 'off' }}
      />
      <Field id="note" label={say('note')} hint={say('note_hint')} problem={texts.note}>
        {(describes) => (
          <textarea
            name={fields.note}
            rows={noteRows}
            maxlength={maxLengthOf(MAX_NOTE_CHARACTERS)}
            {...describes}
          >
            {values.note}
          </textarea>
        )}
      </Field>
    </>
  )
}
