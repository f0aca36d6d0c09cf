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
      {isOfAccount ? (
        <LabelFields
          words={words}
          fields={{ name: 'push[name]', note: 'push[note]' }}
          values={{ name: typed('name'), note: typed('note') }}
          texts={texts}
          noteRows={2}
        />
      ) : null}
      {isOfAccount ? <p class="hint">{say('options_remembered')}</p> : null}
    </details>
  )
}

function Ticks({ words: { say }, limits, typed }: PartProps) {
  const isTicked = (field: string, preset: boolean) =>
    typed(field) === '' ? preset : typed(field) === 'true'
  return (
    <>
      <Tick
        id="retrieval_step"
        name="push[retrieval_step]"
        label={say('retrieval_step')}
        hint={say('retrieval_step_hint')}
        isTicked={isTicked('retrieval_step', limits.retrievalStep)}
        otherwise="false"
      />
      <Tick
        id="deletable_by_viewer"
        name="push[deletable_by_viewer]"
        label={say('deletable_by_viewer')}
        hint={say('deletable_by_viewer_hint')}
        isTicked={isTicked('deletable_by_viewer', limits.deletableByViewer)}
        otherwise="false"
      />
    </>
  )
}
