// Fields of the create form that every kind has: expiry, protection, labels.

import { MAX_NAME_CHARACTERS, MAX_NOTE_CHARACTERS, type PushLimits } from '../../../domain/new-push.ts'
import type { Problems } from '../../../domain/problems.ts'
import type { WordKey } from '../../../words/words.ts'
import type { Guest } from '../frame/guest.ts'
import { Field, Input, maxLengthOf, Tick } from '../frame/parts.tsx'
import { PassphraseInput } from '../frame/passphrase-input.tsx'
import type { Typed, Unseen } from './create-sender.ts'

export type CreateFormProps = {
  guest: Guest
  /** Somebody opened the form signed in, so that it offers everything that an account may send. */
  isOfAccount: boolean
  unseen: Unseen
  limits: PushLimits
  typed: Typed
  problems: Problems
  wordlist: string
}

export type PartProps = CreateFormProps & { texts: Record<string, string> }

const UNITS: [string, WordKey][] = [
  ['minutes', 'unit_minutes'],
  ['hours', 'unit_hours'],
  ['days', 'unit_days'],
]

export function Expiry({ guest, limits, typed, texts }: PartProps) {
  const { say } = guest.words
  const { days, views } = limits
  const unit = typed('expire_unit') || 'days'
  const lifetime = say('expire_after_hint', { min: days.min, n: days.max })
  return (
    <fieldset class="pair">
      <legend>{say('expiry')}</legend>
      <Field
        id="expire_after"
        label={say('expire_after')}
        hint={lifetime}
        problem={texts.expire_after ?? texts.expire_after_days ?? texts.expire_after_duration}
      >
        {(describes) => (
          <div class="joined">
            <input
              type="number"
              name="push[expire_after]"
              inputmode="numeric"
              min={1}
              step={1}
              value={typed('expire_after') || days.default}
              {...describes}
            />
            <select name="push[expire_unit]" aria-label={say('expire_unit')}>
              {UNITS.map(([value, key]) => (
                <option key={value} value={value} selected={value === unit}>
                  {say(key)}
                </option>
              ))}
            </select>
          </div>
        )}
      </Field>
      <Input
        id="expire_after_views"
        name="push[expire_after_views]"
        type="number"
        label={say('expire_after_views')}
        hint={say('expire_after_views_hint', { min: views.min, n: views.max })}
        problem={texts.expire_after_views}
        value={typed('expire_after_views') || views.default}
        attributes={{ inputmode: 'numeric', min: views.min, max: views.max, step: 1 }}
      />
    </fieldset>
  )
}

export function Protection({ guest, limits, typed, texts }: PartProps) {
  const { say } = guest.words
  const isTicked = (field: string, preset: boolean) =>
    typed(field) === '' ? preset : typed(field) === 'true'
  return (
    <>
      <PassphraseInput
        words={guest.words}
        id="passphrase"
        name="push[passphrase]"
        label={say('passphrase_optional')}
        hint={say('passphrase_hint')}
        problem={texts.passphrase}
        value={typed('passphrase')}
        attributes={{ autocomplete: 'new-password' }}
      />
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

export function Labels({ guest, typed, texts }: PartProps) {
  const { say } = guest.words
  return (
    <details open={typed('name') !== '' || typed('note') !== '' || texts.name !== undefined}>
      <summary>{say('labels')}</summary>
      <Input
        id="name"
        name="push[name]"
        label={say('name')}
        hint={say('name_hint')}
        problem={texts.name}
        value={typed('name')}
        attributes={{ maxlength: maxLengthOf(MAX_NAME_CHARACTERS), autocomplete: 'off' }}
      />
      <Field id="note" label={say('note')} hint={say('note_hint')} problem={texts.note}>
        {(describes) => (
          <textarea name="push[note]" rows={3} maxlength={maxLengthOf(MAX_NOTE_CHARACTERS)} {...describes}>
            {typed('note')}
          </textarea>
        )}
      </Field>
    </details>
  )
}
