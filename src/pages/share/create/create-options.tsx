// The options that few pushes need: who gets the link by mail, opening, deleting and a note.

import { MAX_RECIPIENTS, MAX_RECIPIENTS_TEXT } from '../../../domain/mail-address.ts'
import { LANGUAGE_NAMES, LANGUAGES } from '../../../words/words.ts'
import { Input, NoteField, Tick } from '../../frame/fields.tsx'
import type { PartProps } from './create-props.ts'

export function Options(props: PartProps) {
  const { words, isOfAccount, limits, typed, texts } = props
  const { say } = words
  const isFilled = FOLDED.some((field) => texts[field] !== undefined || typed(field) !== '')
  return (
    <details class="options" open={isFilled}>
      <summary>{say('more_options')}</summary>
      {isOfAccount && limits.mail && <Recipients {...props} />}
      <Ticks {...props} />
      {isOfAccount && (
        <NoteField words={words} name="push[note]" value={typed('note')} problem={texts.note} />
      )}
    </details>
  )
}

const FOLDED = ['note', 'notify_emails_to'] as const

/** Never filled in by an address, which could be somebody else's: they would get the link. */
function Recipients({ words, typed, texts }: PartProps) {
  const { say, language } = words
  const chosen = typed('notify_emails_to_locale') || language
  return (
    <>
      <Input
        id="notify_emails_to"
        name="push[notify_emails_to]"
        label={say('notify_to')}
        hint={say('notify_to_hint', { n: MAX_RECIPIENTS })}
        problem={texts.notify_emails_to}
        value={typed('notify_emails_to')}
        attributes={{
          ...{ maxlength: MAX_RECIPIENTS_TEXT, inputmode: 'email', dir: 'ltr' },
          ...{ autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' },
        }}
      />
      <div class="field">
        <label for="notify_emails_to_locale">{say('notify_language')}</label>
        <select id="notify_emails_to_locale" name="push[notify_emails_to_locale]">
          {LANGUAGES.map((one) => (
            <option value={one} lang={one} selected={one === chosen}>
              {LANGUAGE_NAMES[one]}
            </option>
          ))}
        </select>
      </div>
    </>
  )
}

const TICKS = [
  { field: 'retrieval_step', setting: 'retrievalStep', hint: 'retrieval_step_hint' },
  { field: 'deletable_by_viewer', setting: 'deletableByViewer', hint: 'deletable_by_viewer_hint' },
] as const

function Ticks({ words: { say }, limits, isOfAccount, typed }: PartProps) {
  const ticks = TICKS.map(({ field, setting, hint }) => (
    <Tick
      id={field}
      name={`push[${field}]`}
      label={say(field)}
      hint={say(hint)}
      isTicked={typed(field) === '' ? limits[setting] : typed(field) === 'true'}
      otherwise="false"
    />
  ))
  const tellsSender = isOfAccount && limits.showSender && (
    <Tick
      id="shows_sender"
      name="push[shows_sender]"
      label={say('shows_sender')}
      hint={say('shows_sender_hint')}
      isTicked={typed('shows_sender') === 'true'}
    />
  )
  return [tellsSender, ticks]
}
