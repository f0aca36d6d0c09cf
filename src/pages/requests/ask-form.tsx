// The form that asks for a secret: what is needed, what may be sent, until when and how often; all else is
// folded away.

import {
  DURATIONS,
  MAX_NOTE_CHARACTERS,
  MAX_PASSPHRASE_BYTES,
  type PushLimits,
} from '../../domain/new-push.ts'
import { MAX_ANSWERS } from '../../domain/requests.ts'
import { DAY } from '../../domain/time.ts'
import { PAGES } from '../../http/urls.ts'
import {
  type FieldOf,
  Input,
  maxLengthOf,
  RefusedFields,
  readFields,
  TextArea,
  Tick,
} from '../frame/fields.tsx'
import type { Form, RefusedForm } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { Icon } from '../frame/icons.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { NameInput, PassphraseInput, RecipientInput } from '../frame/push-fields.tsx'
import { Choice } from '../share/create/choice.tsx'
import {
  type Chip,
  type ChipProps,
  ExactLifetime,
  exactChip,
  Line,
  lifetimeChips,
  numberOf,
} from '../share/create/create-expiry.tsx'
import { Dice } from '../share/create/create-form.tsx'
import { readLifetime } from '../share/create/create-reader.ts'
import { EXACT } from '../share/create/expiry-chips.ts'

/** The numbers of answers that the form offers as chips. */
const OFFERED_ANSWERS = [1, 3, 5, 10]

type AskFormProps = {
  guest: Member
  /** The account's own age key. */
  recipient: string | null
  limits: PushLimits
  wordlist: string
  refused: RefusedForm | null
}

export function AskForm({ guest, recipient, limits, wordlist, refused }: AskFormProps) {
  const { words, say } = guest
  const preset = {
    expire_after_duration: String(DURATIONS.indexOf(limits.days.default * DAY)),
    ...{ answers: '1', max_answers: '', recipient: '' },
  }
  const { texts, typed, field, ticked } = readFields(refused, words, preset)
  const isKeyTyped = typed('recipient') !== ''
  return (
    <PostForm guest={guest} action={PAGES.ask.href()} look="create" isOnce>
      <RefusedFields problems={texts} words={words} />
      <div>
        <TextArea
          {...field('message')}
          label={say('ask_message')}
          hint={say('ask_message_hint')}
          attributes={{ rows: 2, maxlength: maxLengthOf(MAX_NOTE_CHARACTERS), autofocus: refused === null }}
        />
      </div>
      {/* If files are off, there is nothing to choose. */}
      {limits.kinds.has('file') && (
        <Choice legend={say('ask_accepts')} name="accept" picks={acceptChips({ words, typed })} />
      )}
      <AskLimits {...{ words, limits, typed, texts, field }} />
      <PassphraseInput
        {...field('passphrase')}
        words={words}
        label={say('passphrase_optional')}
        hint={say('ask_passphrase_hint')}
        trailing={<Dice words={words} wordlist={wordlist} />}
        attributes={{ autocomplete: 'new-password', maxlength: MAX_PASSPHRASE_BYTES }}
      />
      <details
        class="options"
        open={isKeyTyped || typed('name') !== '' || ticked('shows_sender', false).isTicked}
      >
        <summary>{say('more_options')}</summary>
        <NameInput
          {...field('name')}
          words={words}
          label={say('ask_name')}
          placeholder={say('ask_name_hint')}
        />
        {limits.showSender && (
          <Tick
            {...ticked('shows_sender', false)}
            label={say('ask_shows_sender')}
            hint={say('ask_shows_sender_hint')}
          />
        )}
        <details open={isKeyTyped}>
          <summary>{say('key_title')}</summary>
          <RecipientInput
            {...field('recipient')}
            label={say('key_field')}
            hint={say(recipient === null ? 'ask_key_hint' : 'ask_key_own')}
            placeholder={recipient ?? undefined}
          />
          <p class="hint">{say('key_warning')}</p>
        </details>
      </details>
      <div class="actions">
        <Submit>{say('ask_submit')}</Submit>
      </div>
    </PostForm>
  )
}

function acceptChips({ words: { say }, typed }: Pick<ChipProps, 'words' | 'typed'>) {
  const chips = { '': 'ask_accepts_both', text: 'kind_text', files: 'kind_file' } as const
  return Object.entries(chips).map(([value, label]) => ({
    ...{ id: `accept-${value || 'both'}`, value, label: say(label) },
    isChosen: value === typed('accept'),
  }))
}

type LimitsProps = ChipProps & { texts: Readonly<Record<string, string>>; field: FieldOf }

/** Until when the link works, and how often: the same chips as for a secret. */
function AskLimits(props: LimitsProps) {
  const { words, texts, field } = props
  const { say, forms } = words
  const { expire_after, expire_after_days, expire_after_duration, max_answers } = texts
  const trouble = expire_after ?? expire_after_days ?? expire_after_duration
  const chips = { views: answerChips(props), lifetime: lifetimeChips(props) }
  const phrases = {
    ...{ views: forms('views'), minutes: forms('minutes'), hours: forms('hours'), days: forms('days') },
  }
  return (
    <details
      class="expiry"
      open={trouble !== undefined || max_answers !== undefined}
      data-forms={JSON.stringify(phrases)}
    >
      <summary>
        <Icon name="clock" />
        <span>
          <Line text={say('ask_expires')} chips={chips} />
        </span>
      </summary>
      <Choice legend={say('expire_after')} name="expire_after_duration" picks={chips.lifetime}>
        <ExactLifetime {...props} trouble={trouble} />
      </Choice>
      <Choice legend={say('ask_answers')} name="answers" picks={chips.views}>
        <div class="exact">
          <Input
            {...field('max_answers')}
            type="number"
            label={say('exact_views')}
            hint={say('ask_answers_hint', { min: 1, n: MAX_ANSWERS })}
            value={props.typed('max_answers') || 1}
            attributes={{ inputmode: 'numeric', min: 1, max: MAX_ANSWERS }}
          />
        </div>
      </Choice>
      <p class="hint">{say('expires_hint')}</p>
    </details>
  )
}

function answerChips({ words, typed }: ChipProps): Chip[] {
  const chips = OFFERED_ANSWERS.map((n, at) => {
    const phrase = words.say('views', { n })
    const isChosen = String(n) === typed('answers')
    return { id: `views-${at}`, value: String(n), label: words.number(n), phrase, isChosen }
  })
  const phrase = words.say('views', { n: numberOf(typed('max_answers'), 1) })
  return [...chips, exactChip('views-exact', chips, { label: words.say('expires_exact'), phrase })]
}

/** Converts the chips into the members of the API. */
export function readAskForm(form: Form) {
  const { answers, ...wire } = Object.fromEntries(form.fields)
  const lifetime = readLifetime(wire)
  const { expire_after_days: _days, expire_after_duration: _index, ...rest } = wire
  const max_answers = answers === undefined || answers === EXACT ? wire.max_answers : answers
  const { duration, problems = {} } = lifetime
  return {
    wire: { ...rest, ...lifetime.wire, max_answers },
    form: {
      ...(duration === undefined ? {} : { duration }),
      showsSender: form.isTicked('shows_sender'),
      problems,
    },
  }
}
