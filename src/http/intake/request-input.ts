// Reads a new request for a secret.

import { ageRecipient, RECIPIENT_PATTERN } from '../../domain/age-recipient.ts'
import { invalidFields } from '../../domain/errors.ts'
import {
  MAX_NAME_CHARACTERS,
  MAX_NOTE_CHARACTERS,
  MAX_PASSPHRASE_BYTES,
  type PushLimits,
} from '../../domain/new-push.ts'
import { MAX_ANSWERS, type NewRequest } from '../../domain/requests.ts'
import { createFields, integer, refined, someOf, text, textOfBytes, type Wire } from './members.ts'
import { createPushTable, type NewPushOptions, readLifetime } from './push-input.ts'

/** An upper bound on the length of an age key. */
const MAX_RECIPIENT_CHARACTERS = 3000

/** The members of a new request; the reference shows them. */
export function createRequestTable(limits: PushLimits) {
  const { expire_after_days, expire_after_duration } = createPushTable(limits)
  return {
    accept: someOf(acceptedBy(limits), {
      default: acceptedBy(limits),
      description: 'What may be sent; an answer may hold all of it.',
    }),
    name: text({
      maxLength: MAX_NAME_CHARACTERS,
      description: 'Label shown to its owner, also with its answers.',
    }),
    message: text({ maxLength: MAX_NOTE_CHARACTERS, description: 'Shown to whoever has the link.' }),
    max_answers: integer({
      ...{ minimum: 1, maximum: MAX_ANSWERS, default: 1 },
      description: 'How often it may be answered.',
    }),
    expire_after_days,
    expire_after_duration,
    passphrase: textOfBytes({
      maxLength: MAX_PASSPHRASE_BYTES,
      description: `Needed to answer; at most ${MAX_PASSPHRASE_BYTES} bytes of UTF-8.`,
    }),
    recipient,
  }
}

const ACCEPTED = ['text', 'files'] as const

function acceptedBy({ kinds }: PushLimits): readonly (typeof ACCEPTED)[number][] {
  return ACCEPTED.filter((word) => word === 'text' || kinds.has('file'))
}

const recipient = refined(
  text({
    ...{ maxLength: MAX_RECIPIENT_CHARACTERS, pattern: RECIPIENT_PATTERN },
    description:
      'A public key of age (`age1…`) that answers are encrypted for; that of the account when not given.',
  }),
  (given, blame) => {
    const parsed = ageRecipient(given)
    return 'value' in parsed ? parsed.value : blame({ code: 'not_recipient' })
  },
)

/** The values that only the form of the pages sends; as in `NewPushOptions`. */
type RequestForm = Pick<NewPushOptions, 'duration' | 'showsSender' | 'problems'>

/** Returns a parser, which throws `invalid` with every field at fault. */
export function createParseRequest(limits: PushLimits) {
  const table = createRequestTable(limits)
  return (
    wire: Wire,
    { duration, showsSender = false, problems: found = {} }: RequestForm = {},
  ): NewRequest => {
    const fields = createFields(table, wire)
    const { lifetime } = readLifetime(fields, { limits, duration: duration ?? null })
    const accept = fields.read('accept') ?? acceptedBy(limits)
    const request = {
      acceptsText: accept.includes('text'),
      acceptsFiles: accept.includes('files'),
      name: fields.read('name') ?? '',
      message: fields.read('message') ?? '',
      maxAnswers: fields.read('max_answers') ?? 1,
      lifetime,
      passphrase: fields.read('passphrase'),
      recipient: fields.read('recipient'),
      showsSender: showsSender && limits.showSender,
    }
    const problems = { ...found, ...fields.problems }
    if (Object.keys(problems).length > 0) throw invalidFields(problems)
    return request
  }
}
