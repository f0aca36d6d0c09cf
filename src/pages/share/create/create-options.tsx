// The options that few pushes need: who gets the link by mail, opening, deleting and a note.

import { MAX_RECIPIENTS, MAX_RECIPIENTS_TEXT } from '../../../domain/mail-address.ts'
import { LANGUAGE_NAMES, LANGUAGES } from '../../../words/words.ts'
import { Input, Select, Tick } from '../../frame/fields.tsx'
import { NoteInput } from '../../frame/push-fields.tsx'
import type { PartProps } from './create-props.ts'

export function Options(props: PartProps) {
  const { words, isOfAccount, limits, typed, texts, field } = props
  const { say } = words
  const isFilled = FOLDED.some((name) => texts[name] !== undefined || typed(name) !== '')
  return (
    <details class="options" open={isFilled}>
      <summary>{say('more_options')}</summary>
      {isOfAccount && limits.mail && <Recipients {...props} />}
      <Ticks {...props} />
      {isOfAccount && <NoteInput words={words} {...field('note')} />}
    </details>
  )
}

const FOLDED = ['note', 'notify_emails_to'] as const

/** Never filled in by an address, which could be somebody else's: they would get the link. */
function Recipients({ words, field }: PartProps) {
  const { say } = words
  const locale = field('notify_emails_to_locale')
  return (
    <>
      <Input
        {...field('notify_emails_to')}
        label={say('notify_to')}
        hint={say('notify_to_hint', { n: MAX_RECIPIENTS })}
        attributes={{
          ...{ maxlength: MAX_RECIPIENTS_TEXT, inputmode: 'email', dir: 'ltr' },
          ...{ autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' },
        }}
      />
      <Select
        {...locale}
        value={locale.value || words.language}
        label={say('notify_language')}
        options={LANGUAGES.map((one) => [one, LANGUAGE_NAMES[one], one])}
      />
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
