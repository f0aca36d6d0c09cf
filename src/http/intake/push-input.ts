// The table of a new push: its members with the limits and defaults of this instance. Requests are read and
// checked by it, no later step refuses a field, and the reference shows it.

import type { Viewer } from '../../domain/audit.ts'
import { DomainError, invalidFields } from '../../domain/errors.ts'
import { LANGUAGES, type Language } from '../../domain/language.ts'
import { MAX_RECIPIENTS } from '../../domain/mail-address.ts'
import {
  anonymousLimits,
  DURATIONS,
  decideLifetime,
  durationProblem,
  type LinkMail,
  MAX_NAME_CHARACTERS,
  MAX_NOTE_CHARACTERS,
  MAX_PASSPHRASE_BYTES,
  MAX_QR_CHARACTERS,
  type NewPush,
  type PushLimits,
  payloadProblem,
  type Range,
} from '../../domain/new-push.ts'
import type { Problems } from '../../domain/problems.ts'
import { PUSH_KINDS, type PushKind } from '../../domain/push.ts'
import { DAY, HOUR, MINUTE } from '../../domain/time.ts'
import { createEndToEndTable, readEndToEnd } from './end-to-end.ts'
import { filesInJson, type JsonFile } from './json-files.ts'
import {
  anyText,
  type BodyMember,
  boolean,
  createFields,
  type Fields,
  integer,
  isGiven,
  mailAddresses,
  mailLanguage,
  text,
  textOfBytes,
  unavailable,
  type Wire,
} from './members.ts'

type PushTable = ReturnType<typeof createPushTable>

type Values = { [Name in keyof PushTable]: PushTable[Name] extends BodyMember<infer Value> ? Value : never }

export type PushFields = Fields<Values>

export function createPushTable(limits: PushLimits) {
  const { payloadBytes, days, views, kinds } = limits
  return {
    payload: anyText({ maxLength: payloadBytes, description: describePayload(limits) }),
    kind: text({ enum: [...kinds], description: 'file when there are files, else text.' }),
    files: filesInJson(limits.fileBytes, describeFiles(limits)),
    expire_after_days: integer(rangeOf(days, 'Days until it expires.')),
    expire_after_views: integer(rangeOf(views, 'Retrievals until it expires.')),
    expire_after_duration: integer({
      ...{ minimum: 0, maximum: DURATIONS.length - 1 },
      enum: [...DURATIONS.keys()].filter((index) => durationProblem(DURATIONS[index] ?? 0, days) === null),
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
    code_required: boolean({
      description:
        'Ask on the page for a code of two digits, which the answer tells. Stops programs that press buttons.',
    }),
    passphrase: textOfBytes({
      maxLength: MAX_PASSPHRASE_BYTES,
      description: `Needed to retrieve; at most ${MAX_PASSPHRASE_BYTES} bytes of UTF-8.`,
    }),
    name: text({ maxLength: MAX_NAME_CHARACTERS, description: 'Label shown to the owner.' }),
    note: text({ maxLength: MAX_NOTE_CHARACTERS, description: 'Note visible to the owner only.' }),
    ...createEndToEndTable(limits),
    ...createMailTable(limits),
  }
}

const MAIL_MEMBERS = ['notify_emails_to', 'notify_emails_to_locale'] as const

type MailFields = Fields<{ notify_emails_to: readonly string[]; notify_emails_to_locale: Language }>

/** The recipients of the link and the language of the mail. */
export function createMailTable({ mail }: Pick<PushLimits, 'mail'>) {
  return {
    notify_emails_to: mail ? mailAddresses(RECIPIENTS) : unavailable('unavailable_list', NO_MAIL),
    notify_emails_to_locale: mail ? mailLanguage(LANGUAGE) : unavailable('unavailable', NO_MAIL),
  }
}

const RECIPIENTS = `Addresses that get the link by mail, separated by commas, at most ${MAX_RECIPIENTS}. Needs a token.`
const LANGUAGE = `Language of that mail: ${LANGUAGES.toSorted().join(', ')}; en by default.`
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

export type NewPushOptions = {
  viewer: Viewer
  /** Number of files of a multipart body that are already stored. */
  received: number
  /** Milliseconds; replaces `expire_after_duration`. */
  duration?: number
  /** Whether recipients see the sender's name. Not a member of the API. */
  showsSender?: boolean
  /** Whether the name was entered as that of the recipient. Not a member of the API. */
  namesRecipient?: boolean
  /** Earlier problems, which are refused together with those found here. */
  problems?: Problems
}

type ParsedPush = { push: NewPush; files: JsonFile[] }

export function createParsePush(limits: PushLimits) {
  const table = createPushTable(limits)

  /** Throws `unauthenticated` for files without an account, else `invalid` with every field at fault. */
  return (wire: Wire, form: NewPushOptions): ParsedPush => {
    const { viewer, received, problems: found } = form
    const fields = createFields(table, wire)
    if (viewer.account === null && (isGiven(wire.files) || wire.kind === 'file')) throw filesNeedAccount()
    const files = fields.read('files') ?? []
    const kind = readKind(fields, { limits, files: received + files.length })
    const payload = readPayload(fields, kind, limits)
    const { encryptedBy, keyCheck } = readEndToEnd(fields, { kind, payload, limits })
    const { lifetime, expireAfterDays } = readLifetime(fields, { limits, duration: form.duration ?? null })
    const push: NewPush = {
      kind,
      payload,
      encryptedBy,
      keyCheck,
      passphrase: readRequiredPassphrase(fields, limits),
      name: fields.read('name') ?? '',
      namesRecipient: form.namesRecipient === true,
      note: fields.read('note') ?? '',
      lifetime,
      expireAfterDays,
      expireAfterViews: readViews(fields, { viewer, limits }),
      deletableByViewer:
        fields.read('deletable_by_viewer') ?? (kind === 'url' ? null : limits.deletableByViewer),
      retrievalStep: fields.read('retrieval_step') ?? limits.retrievalStep,
      codeRequired: fields.read('code_required') ?? false,
      showsSender: form.showsSender === true && limits.showSender && viewer.account !== null,
      mail: readMail(fields, { wire, viewer, limits }),
    }
    if (push.mail !== null && !mayMailLink(push, fields.read('recipients_only')))
      fields.blame('notify_emails_to', { code: 'link_needs_key' })
    const problems = { ...found, ...fields.problems }
    if (Object.keys(problems).length > 0) throw invalidFields(problems)
    return { push, files }
  }
}

/** Throws `unauthenticated` or `invalid`. Call it before a file is read. */
export function requireFilesAllowed({ account }: Viewer, limits: PushLimits): void {
  if (account === null) throw filesNeedAccount()
  if (!limits.kinds.has('file')) throw invalidFields({ kind: [{ code: 'kind_disabled', kinds: 'file' }] })
}

function filesNeedAccount(): DomainError {
  return new DomainError('unauthenticated', 'Files can only be pushed with an API token.')
}

function readKind(fields: PushFields, { limits, files }: { limits: PushLimits; files: number }): PushKind {
  const kind = fields.read('kind') ?? (files > 0 ? 'file' : 'text')
  const known = PUSH_KINDS.find((candidate) => candidate === kind)
  const filesAllowed = limits.kinds.has('file')
  if (known === undefined) fields.blame('kind', { code: 'unknown_kind', kinds: PUSH_KINDS.join(', ') })
  else if (!limits.kinds.has(known)) fields.blame('kind', { code: 'kind_disabled', kinds: known })
  else if (files > 0 && !filesAllowed) fields.blame('files', { code: 'files_disabled' })
  else if (files > limits.files) fields.blame('files', { code: 'too_many_files', limit: limits.files })
  else if (known === 'file' && files === 0) fields.blame('files', { code: 'blank' })
  return known ?? 'text'
}

function readPayload(fields: PushFields, kind: PushKind, limits: PushLimits): string {
  const payload = fields.read('payload') ?? ''
  const problem = 'payload' in fields.problems ? null : payloadProblem(kind, payload, limits)
  if (problem !== null) fields.blame('payload', problem)
  return payload
}

function readRequiredPassphrase(fields: PushFields, { requirePassphrase }: PushLimits): string | null {
  const passphrase = fields.read('passphrase')
  const isMissing = (passphrase ?? '').trim() === '' && !('passphrase' in fields.problems)
  if (requirePassphrase && isMissing) fields.blame('passphrase', { code: 'passphrase_required_here' })
  return passphrase
}

function readViews(fields: PushFields, { viewer, limits }: { viewer: Viewer; limits: PushLimits }): number {
  const { views } = viewer.account === null ? anonymousLimits(limits) : limits
  const asked = fields.read('expire_after_views') ?? views.default
  if (asked > views.max) fields.blame('expire_after_views', { code: 'too_many_views', limit: views.max })
  return asked
}

type MailContext = { viewer: Viewer; wire: Wire; limits: Pick<PushLimits, 'mail'> }

/** Returns null if no recipient is given. Only accounts send mail, each within a limit. */
export function readMail(fields: MailFields, { viewer, wire, limits }: MailContext): LinkMail | null {
  if (limits.mail && viewer.account === null) {
    for (const name of MAIL_MEMBERS) if (isGiven(wire[name])) fields.blame(name, { code: 'needs_account' })
    return null
  }
  const recipients = fields.read('notify_emails_to') ?? []
  const language = fields.read('notify_emails_to_locale') ?? 'en'
  return recipients.length === 0 ? null : { recipients, language }
}

/** Whether the link may be sent by mail: it needs no key, or the sender says that the recipient has it. */
export function mayMailLink(
  push: Pick<NewPush, 'encryptedBy' | 'keyCheck'>,
  isForRecipients: boolean | null,
): boolean {
  return push.encryptedBy !== 'sender' || (push.keyCheck === null && isForRecipients === true)
}

type Lifespan = { limits: PushLimits; duration: number | null }
type LifespanFields = Fields<{ expire_after_days: number; expire_after_duration: number }>

/** `duration`: milliseconds; replaces the one that was sent. */
export function readLifetime(fields: LifespanFields, { limits, duration: asked }: Lifespan) {
  const days = fields.read('expire_after_days')
  const index = fields.read('expire_after_duration')
  const duration = asked ?? (index === null ? null : (DURATIONS[index] ?? null))
  const problem = duration === null ? null : durationProblem(duration, limits.days)
  if (problem !== null) fields.blame('expire_after_duration', problem)
  return decideLifetime({ days, duration }, limits.days)
}
