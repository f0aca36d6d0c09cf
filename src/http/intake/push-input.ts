// From the fields of a request to a push that may be created: refused here or never.

import type { Viewer } from '../../domain/audit.ts'
import { DomainError, invalidFields } from '../../domain/errors.ts'
import {
  DURATIONS,
  decideLifetime,
  durationProblem,
  MAX_NAME_CHARACTERS,
  MAX_NOTE_CHARACTERS,
  MAX_PASSPHRASE_BYTES,
  type NewPush,
  type PushLimits,
  payloadProblem,
} from '../../domain/new-push.ts'
import { PUSH_KINDS, type PushKind } from '../../domain/push.ts'
import { createFields, type Fields, type Wire } from './fields.ts'
import { type JsonFile, readJsonFiles } from './json-files.ts'

export type NewPushOptions = {
  viewer: Viewer
  limits: PushLimits
  /** Files that came as parts of the body and are kept already. */
  received: number
  /** Milliseconds, where a form gave any length of time. */
  duration?: number
}

export type ParsedPush = { push: NewPush; files: JsonFile[] }

/** Throws `unauthenticated` for files without an account, `invalid` with every field at fault otherwise. */
export function parseNewPush(wire: Wire, options: NewPushOptions): ParsedPush {
  const { viewer, limits, received } = options
  const fields = createFields(wire)
  const sendsFiles = wire.files !== undefined && wire.files !== null && wire.files !== ''
  if (viewer.account === null && (sendsFiles || wire.kind === 'file')) throw filesNeedAccount()
  const files = readJsonFiles(fields)
  const kind = readKind(fields, { limits, files: received + files.length })
  const push: NewPush = {
    kind,
    payload: readPayload(fields, kind, limits),
    passphrase: readPassphrase(fields),
    name: fields.shortText('name', MAX_NAME_CHARACTERS),
    note: fields.shortText('note', MAX_NOTE_CHARACTERS),
    ...readLifetime(fields, options),
    expireAfterViews: fields.integer('expire_after_views', limits.views) ?? limits.views.default,
    deletableByViewer:
      fields.boolean('deletable_by_viewer') ?? (kind === 'url' ? null : limits.deletableByViewer),
    retrievalStep: fields.boolean('retrieval_step') ?? limits.retrievalStep,
  }
  refuseNotifications(fields)
  if (Object.keys(fields.problems).length > 0) throw invalidFields(fields.problems)
  return { push, files }
}

/** Before any of a file is read. */
export function requireFilesAllowed({ account }: Viewer, limits: PushLimits): void {
  if (account === null) throw filesNeedAccount()
  if (!limits.kinds.has('file')) throw invalidFields({ kind: [{ code: 'kind_disabled', kinds: 'file' }] })
}

function filesNeedAccount(): DomainError {
  return new DomainError('unauthenticated', 'Files can only be pushed with an API token.')
}

function readKind(fields: Fields, { limits, files }: { limits: PushLimits; files: number }): PushKind {
  const named = fields.text('kind')
  const kind = named ?? (files > 0 ? 'file' : 'text')
  const known = PUSH_KINDS.find((candidate) => candidate === kind)
  const filesAllowed = limits.kinds.has('file')
  if (known === undefined) fields.blame('kind', { code: 'unknown_kind', kinds: PUSH_KINDS.join(', ') })
  else if (!limits.kinds.has(known)) fields.blame('kind', { code: 'kind_disabled', kinds: known })
  else if (files > 0 && !filesAllowed) fields.blame('files', { code: 'files_disabled' })
  else if (files > limits.files) fields.blame('files', { code: 'too_many_files', limit: limits.files })
  else if (known === 'file' && files === 0) fields.blame('files', { code: 'blank' })
  return known ?? 'text'
}

function readPayload(fields: Fields, kind: PushKind, limits: PushLimits): string {
  const payload = fields.given('payload') ?? ''
  if (typeof payload !== 'string') {
    fields.blame('payload', { code: 'not_text' })
    return ''
  }
  const problem = payloadProblem(kind, payload, limits)
  if (problem !== null) fields.blame('payload', problem)
  return payload
}

function readPassphrase(fields: Fields): string | null {
  const passphrase = fields.text('passphrase')
  if (passphrase !== null && Buffer.byteLength(passphrase) > MAX_PASSPHRASE_BYTES) {
    fields.blame('passphrase', { code: 'too_long_bytes', limit: MAX_PASSPHRASE_BYTES })
  }
  return passphrase
}

function readLifetime(fields: Fields, { limits, duration: asked }: NewPushOptions) {
  const days = fields.integer('expire_after_days', limits.days)
  const index = fields.integer('expire_after_duration', { min: 0, max: DURATIONS.length - 1 })
  const duration = asked ?? (index === null ? null : (DURATIONS[index] ?? null))
  const problem = duration === null ? null : durationProblem(duration, limits.days)
  if (problem !== null) fields.blame('expire_after_duration', problem)
  return decideLifetime({ days, duration }, limits.days)
}

/** Mail is not there; what asks for it is refused rather than silently not sent. */
function refuseNotifications(fields: Fields): void {
  if (fields.given('notify_emails_to') !== null)
    fields.blame('notify_emails_to', { code: 'unavailable_list' })
  if (fields.given('notify_emails_to_locale') !== null)
    fields.blame('notify_emails_to_locale', { code: 'unavailable' })
}
