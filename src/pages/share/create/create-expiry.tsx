// When a push expires: a summary line that unfolds into chips and exact fields. Needs no script, because the
// style sheet shows the phrases of the chosen chips.

import { DURATIONS } from '../../../domain/new-push.ts'
import { Field, Input, Tick } from '../../frame/fields.tsx'
import { Icon } from '../../frame/icons.tsx'
import { Choice, type ChoiceOption } from './choice.tsx'
import type { PartProps } from './create-props.ts'
import {
  EXACT,
  lifetimeText,
  MILLISECONDS,
  offeredDurations,
  offeredViews,
  UNITS,
  unitOf,
} from './expiry-chips.ts'

/** `phrase` is the text in the summary, `label` the text on the chip. */
type Chip = ChoiceOption & { phrase: string }

/** The parts of a form that its limits need; `isRequest`: they are those of a request and its answers. */
export type ExpiryProps = Pick<PartProps, 'words' | 'limits' | 'typed' | 'texts' | 'field'> & {
  isOfAccount?: boolean
  isRequest?: boolean
}

export function Expiry(props: ExpiryProps) {
  const { field, isRequest = false } = props
  const { say, forms } = props.words
  const { expire_after_days, expire_after_duration, expire_after_views: viewTrouble } = props.texts
  const trouble = props.texts.expire_after ?? expire_after_days ?? expire_after_duration
  const chips = { views: viewChips(props), lifetime: lifetimeChips(props) }
  const phrases = {
    ...{ views: forms('views'), minutes: forms('minutes'), hours: forms('hours'), days: forms('days') },
  }
  return (
    <details
      class="expiry"
      open={trouble !== undefined || viewTrouble !== undefined}
      data-forms={JSON.stringify(phrases)}
    >
      <summary>
        <Icon name="clock" />
        <span>
          <Line text={say(isRequest ? 'ask_expires' : 'expires')} chips={chips} />
        </span>
      </summary>
      <Choice legend={say('expire_after')} name={field('expire_after_duration').name} picks={chips.lifetime}>
        <ExactLifetime {...props} trouble={trouble} />
      </Choice>
      <Choice
        legend={say(isRequest ? 'ask_answers' : 'expire_after_views')}
        name={field('views').name}
        picks={chips.views}
      >
        <ExactViews {...props} />
      </Choice>
      <p class="hint">{say('expires_hint')}</p>
      {props.isOfAccount && (
        <Tick
          id="remember"
          name="push[remember]"
          label={say('use_next_time')}
          hint={say('use_next_time_hint')}
          isTicked={props.typed('remember') === 'true'}
        />
      )}
    </details>
  )
}

function lifetimeChips({ words, limits, typed }: ExpiryProps): Chip[] {
  const chosen = typed('expire_after_duration') || EXACT
  const chips = offeredDurations(limits).map((index, at) => {
    const label = lifetimeText(DURATIONS[index] ?? 0, words)
    const value = String(index)
    return { id: `expire-${at}`, value, label, phrase: label, isChosen: value === chosen }
  })
  const number = numberOf(typed('expire_after'), limits.days.default)
  const phrase = lifetimeText(number * MILLISECONDS[unitOf(typed('expire_unit'))], words)
  return [...chips, exactChip('expire-exact', chips, { label: words.say('expires_exact'), phrase })]
}

function viewChips({ words, limits, typed }: ExpiryProps): Chip[] {
  const chosen = typed('views') || EXACT
  const chips = offeredViews(limits).map((n, at) => {
    const label = words.number(n)
    const phrase = words.say('views', { n })
    return { id: `views-${at}`, value: String(n), label, phrase, isChosen: String(n) === chosen }
  })
  const phrase = words.say('views', { n: numberOf(typed('expire_after_views'), limits.views.default) })
  return [...chips, exactChip('views-exact', chips, { label: words.say('expires_exact'), phrase })]
}

function exactChip(id: string, others: Chip[], texts: { label: string; phrase: string }): Chip {
  return { id, value: EXACT, isChosen: !others.some(({ isChosen }) => isChosen), ...texts }
}

function numberOf(text: string, preset: number): number {
  return /^\d{1,7}$/.test(text) ? Number(text) : preset
}

/** The summary. It contains the phrases of all chips; the style sheet shows those of the chosen ones. */
function Line({ text, chips }: { text: string; chips: Record<'views' | 'lifetime', Chip[]> }) {
  return text.split(/\{(views|lifetime)\}/).map((part) =>
    part === 'views' || part === 'lifetime'
      ? chips[part].map(({ id, phrase, isChosen }) => (
          <span data-when={id} class={isChosen ? 'chosen' : undefined}>
            {phrase}
          </span>
        ))
      : part,
  )
}

type ExactProps = ExpiryProps & { trouble: string | undefined }

function ExactLifetime({ words: { say }, limits, typed, field, trouble }: ExactProps) {
  const { days } = limits
  const chosen = unitOf(typed('expire_unit'))
  const hint = say('expire_after_hint', { min: days.min, n: days.max })
  return (
    <div class="exact">
      <Field id="expire_after" label={say('exact_time')} hint={hint} problem={trouble}>
        {(describes) => (
          <div class="joined">
            <input
              type="number"
              name={field('expire_after').name}
              inputmode="numeric"
              value={typed('expire_after') || days.default}
              {...describes}
            />
            <select id="expire_unit" name={field('expire_unit').name} aria-label={say('expire_unit')}>
              {UNITS.map((unit) => (
                <option value={unit} selected={unit === chosen}>
                  {say(`unit_${unit}`)}
                </option>
              ))}
            </select>
          </div>
        )}
      </Field>
    </div>
  )
}

function ExactViews({ words: { say }, limits: { views }, field, typed }: ExpiryProps) {
  return (
    <div class="exact">
      <Input
        {...field('expire_after_views')}
        type="number"
        label={say('exact_views')}
        hint={say('expire_after_views_hint', { min: views.min, n: views.max })}
        value={typed('expire_after_views') || views.default}
        attributes={{ inputmode: 'numeric' }}
      />
    </div>
  )
}
