// The options that few pushes need: opening, deleting, name and note.

import { LabelFields, Tick } from '../../frame/fields.tsx'
import type { PartProps } from './create-props.ts'

export function Options(props: PartProps) {
  const { words, isOfAccount, typed, texts } = props
  const { say } = words
  const isTrouble = texts.name !== undefined || texts.note !== undefined
  return (
    <details class="options" open={isTrouble || typed('name') !== '' || typed('note') !== ''}>
      <summary>{say('more_options')}</summary>
      <Ticks {...props} />
      {isOfAccount && (
        <LabelFields
          words={words}
          fields={{ name: 'push[name]', note: 'push[note]' }}
          values={{ name: typed('name'), note: typed('note') }}
          texts={texts}
          noteRows={2}
        />
      )}
    </details>
  )
}

const TICKS = [
  { field: 'retrieval_step', setting: 'retrievalStep', hint: 'retrieval_step_hint' },
  { field: 'deletable_by_viewer', setting: 'deletableByViewer', hint: 'deletable_by_viewer_hint' },
] as const

function Ticks({ words: { say }, limits, typed }: PartProps) {
  return TICKS.map(({ field, setting, hint }) => (
    <Tick
      id={field}
      name={`push[${field}]`}
      label={say(field)}
      hint={say(hint)}
      isTicked={typed(field) === '' ? limits[setting] : typed(field) === 'true'}
      otherwise="false"
    />
  ))
}
