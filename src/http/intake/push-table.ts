// The table of a new push: its members with the limits and defaults of this instance. Requests are read by it, and the
// reference shows it.

import { LANGUAGES, type Language } from '../../domain/language.ts'
import { MAX_RECIPIENTS } from '../../domain/mail-address.ts'
import {
  DURATIONS,
  MAX_NAME_CHARACTERS,
  MAX_NOTE_CHARACTERS,
  MAX_PASSPHRASE_BYTES,
  MAX_QR_CHARACTERS,
  type PushLimits,
  type Range,
} from '../../domain/new-push.ts'
import { DAY, HOUR, MINUTE } from '../../domain/time.ts'
import { filesInJson } from './json-files.ts'
import type { Fields, Member } from './members.ts'
import {
  anyText,
  boolean,
  integer,
  mailAddresses,
  mailLanguage,
  text,
  textOfBytes,
  unavailable,
} from './members.ts'

export type PushTable = ReturnType<typeof createPushTable>

type Values = { [Name in keyof PushTable]: PushTable[Name] extends Member<infer Value> ? Value : never }

export type PushFields = Fields<Values>

export function createPushTable(limits: PushLimits) {
  const { payloadBytes, days, views, kinds } = limits
  return {
    payload: anyText({ maxLength: payloadBytes, description: describePayload(limits) }),
    kind: text({ enum: [...kinds], description: 'file when there are files, else text.' }),
    files: filesInJson(describeFiles(limits)),
    expire_after_days: integer(rangeOf(days, 'Days until it expires.')),
    expire_after_views: integer(rangeOf(views, 'Retrievals until it expires.')),
    expire_after_duration: integer({
      ...{ minimum: 0, maximum: DURATIONS.length - 1 },
      description: describeDurations(days),
    }),
    deletable_by_viewer: boolean({
      default: limits.deletableByViewer,
      description: 'Whether recipients may expire it. Off for a url push that does not say.',
    }),
    retrieval_step: boolean({
      default: limits.retrievalStep,
      description: 'Ask for a confirmation before retrieving.',
    }),
    passphrase: textOfBytes({
      maxLength: MAX_PASSPHRASE_BYTES,
      description: `Needed to retrieve; at most ${MAX_PASSPHRASE_BYTES} bytes of UTF-8.`,
    }),
    name: text({ maxLength: MAX_NAME_CHARACTERS, description: 'Label shown to the owner.' }),
    note: text({ maxLength: MAX_NOTE_CHARACTERS, description: 'Note visible to the owner only.' }),
    ...createMailTable(limits),
  }
}

export const MAIL_MEMBERS = ['notify_emails_to', 'notify_emails_to_locale'] as const

export type MailFields = Fields<{ notify_emails_to: readonly string[]; notify_emails_to_locale: Language }>

/** To whom the link is sent, and in which language. */
export function createMailTable({ mail }: Pick<PushLimits, 'mail'>) {
  return {
    notify_emails_to: mail ? mailAddresses(RECIPIENTS) : unavailable('unavailable_list', NO_MAIL),
    notify_emails_to_locale: mail ? mailLanguage(LANGUAGE) : unavailable('unavailable', NO_MAIL),
  }
}

const RECIPIENTS = `Addresses that get the link by mail, separated by commas, at most ${MAX_RECIPIENTS}. Needs a token.`
const LANGUAGE = `Language of that mail: ${LANGUAGES.join(', ')}; en by default.`
const NO_MAIL = 'Refused, because this server sends no mail.'

function describePayload({ payloadBytes, kinds }: PushLimits): string {
  const qr = kinds.has('qr') ? ` A qr holds at most ${MAX_QR_CHARACTERS} characters.` : ''
  return `The secret, at most ${payloadBytes} bytes of UTF-8. Required for every kind but file.${qr}`
}

function describeFiles({ kinds, files, fileBytes }: PushLimits) {
  if (!kinds.has('file')) return { maxItems: 0, description: 'Files are disabled on this server.' }
  return { maxItems: files, description: `Needs a token. A file has at most ${fileBytes} bytes.` }
}

function rangeOf({ min, max, default: preset }: Range, description: string) {
  return { minimum: min, maximum: max, default: preset, description }
}

function describeDurations({ min, max }: Range): string {
  const lengths = DURATIONS.map(describeDuration).join(', ')
  const least = min > 1 ? `; a day or more must be at least ${min} d` : ''
  return `Index of ${lengths}. At most ${max} d on this server${least}. With days given too, the shorter wins.`
}

function describeDuration(milliseconds: number): string {
  if (milliseconds >= DAY) return `${milliseconds / DAY} d`
  return milliseconds >= HOUR ? `${milliseconds / HOUR} h` : `${milliseconds / MINUTE} min`
}
