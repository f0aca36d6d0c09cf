// The options that few pushes need: opening, deleting and a note.

import { NoteField, Tick } from '../../frame/fields.tsx'
import type { PartProps } from './create-props.ts'

export function Options(props: PartProps) {
  const { words, isOfAccount, typed, texts } = props
  const { say } = words
  return (
    <details class="options" open={texts.note !== undefined || typed('note') !== ''}>
      <summary>{say('more_options')}</summary>
      <Ticks {...props} />
      {isOfAccount && (
        <NoteField words={words} name="push[note]" value={typed('note')} problem={texts.note} />
      )}
    </details>
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
