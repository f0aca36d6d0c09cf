// The form that asks for a secret: what is needed, what may be sent, until when and how often. All other
// fields are folded away.

import {
  DURATIONS,
  MAX_NOTE_CHARACTERS,
  MAX_PASSPHRASE_BYTES,
  type PushLimits,
} from '../../domain/new-push.ts'
import { MAX_ANSWERS } from '../../domain/requests.ts'
import { DAY } from '../../domain/time.ts'
import { PAGES } from '../../http/urls.ts'
import { maxLengthOf, RefusedFields, readFields, TextArea, Tick } from '../frame/fields.tsx'
import type { Form, RefusedForm } from '../frame/form.ts'
import type { Member } from '../frame/guest.ts'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { NameInput, PassphraseInput, RecipientInput } from '../frame/push-fields.tsx'
import { Choice } from '../share/create/choice.tsx'
import { Expiry, type ExpiryProps } from '../share/create/create-expiry.tsx'
import { Dice } from '../share/create/create-form.tsx'
import { readLimits } from '../share/create/create-reader.ts'

const ANSWERS = { min: 1, max: MAX_ANSWERS, default: 1 }

type AskFormProps = {
  guest: Member
  /** The age key of the account. */
  recipient: string | null
  limits: PushLimits
  wordlist: string
  refused: RefusedForm | null
}

export function AskForm({ guest, recipient, limits, wordlist, refused }: AskFormProps) {
  const { words, say } = guest
  const preset = {
    expire_after_duration: String(DURATIONS.indexOf(limits.days.default * DAY)),
    views: String(ANSWERS.default),
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
      <Expiry {...{ words, typed, texts, field }} limits={{ ...limits, views: ANSWERS }} isRequest />
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

function acceptChips({ words: { say }, typed }: Pick<ExpiryProps, 'words' | 'typed'>) {
  const chips = { '': 'ask_accepts_both', text: 'kind_text', files: 'kind_file' } as const
  return Object.entries(chips).map(([value, label]) => ({
    ...{ id: `accept-${value || 'both'}`, value, label: say(label) },
    isChosen: value === typed('accept'),
  }))
}

/** Converts the fields for limits, which are those of a push, into the members of the API. */
export function readAskForm(form: Form) {
  const fields = Object.fromEntries(form.fields)
  const { wire, duration, problems = {} } = readLimits(fields)
  const { expire_after_views: max_answers = fields.max_answers, ...members } = wire
  return {
    wire: { ...members, max_answers },
    form: {
      ...(duration === undefined ? {} : { duration }),
      ...{ showsSender: form.isTicked('shows_sender'), problems },
    },
  }
}
