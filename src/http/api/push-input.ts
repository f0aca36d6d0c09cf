// From the fields of a request to a push that may be created: refused here or never.

import type { Viewer } from '../../domain/audit.ts'
import { DomainError } from '../../domain/errors.ts'
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
import { invalidFields } from '../errors.ts'
import { createFields, type Fields, type Wire } from './fields.ts'

/** Throws `unauthenticated` for files without an account, `invalid` with every field at fault otherwise. */
export function parseNewPush(wire: Wire, { account }: Viewer, limits: PushLimits): NewPush {
  const fields = createFields(wire)
  const sendsFiles = wire.files !== undefined && wire.files !== null && wire.files !== ''
  if (account === null && (sendsFiles || wire.kind === 'file')) throw filesNeedAccount()
  const kind = readKind(fields, limits)
  const push: NewPush = {
    kind,
    payload: readPayload(fields, kind, limits),
    passphrase: readPassphrase(fields),
    name: fields.shortText('name', MAX_NAME_CHARACTERS),
    note: fields.shortText('note', MAX_NOTE_CHARACTERS),
    ...readLifetime(fields, limits),
    expireAfterViews: fields.integer('expire_after_views', limits.views) ?? limits.views.default,
    deletableByViewer:
      fields.boolean('deletable_by_viewer') ?? (kind === 'url' ? null : limits.deletableByViewer),
    retrievalStep: fields.boolean('retrieval_step') ?? limits.retrievalStep,
  }
  refuseNotifications(fields)
  if (Object.keys(fields.errors).length > 0) throw invalidFields(fields.errors)
  return push
}

/** A file that arrives while files are off: refused before any of it is read. */
export async function refuseFiles({ account }: Viewer, limits: PushLimits): Promise<never> {
  if (account === null) throw filesNeedAccount()
  if (!limits.kinds.has('file')) throw invalidFields({ kind: ['"file" is disabled on this server'] })
  throw new Error('files are on, and nothing takes them')
}

function filesNeedAccount(): DomainError {
  return new DomainError('unauthenticated', 'Files can only be pushed with an API token.')
}

function readKind(fields: Fields, limits: PushLimits): PushKind {
  const files = readFileCount(fields)
  const named = fields.text('kind')
  const kind = named ?? (files > 0 ? 'file' : 'text')
  const known = PUSH_KINDS.find((candidate) => candidate === kind)
  if (known === undefined) fields.blame('kind', `must be one of ${PUSH_KINDS.join(', ')}`)
  else if (!limits.kinds.has(known)) fields.blame('kind', `"${known}" is disabled on this server`)
  else if (files > 0) fields.blame('files', 'are disabled on this server')
  return known ?? 'text'
}

function readFileCount(fields: Fields): number {
  const files = fields.given('files')
  if (files === null) return 0
  if (Array.isArray(files)) return files.length
  fields.blame('files', 'must be a list')
  return 1
}

function readPayload(fields: Fields, kind: PushKind, limits: PushLimits): string {
  const payload = fields.given('payload') ?? ''
  if (typeof payload !== 'string') {
    fields.blame('payload', 'must be a string')
    return ''
  }
  const problem = payloadProblem(kind, payload, limits)
  if (problem !== null) fields.blame('payload', problem)
  return payload
}

function readPassphrase(fields: Fields): string | null {
  const passphrase = fields.text('passphrase')
  if (passphrase !== null && Buffer.byteLength(passphrase) > MAX_PASSPHRASE_BYTES) {
    fields.blame('passphrase', `is too long (at most ${MAX_PASSPHRASE_BYTES} bytes)`)
  }
  return passphrase
}

function readLifetime(fields: Fields, limits: PushLimits) {
  const days = fields.integer('expire_after_days', limits.days)
  const index = fields.integer('expire_after_duration', { min: 0, max: DURATIONS.length - 1 })
  const duration = index === null ? null : (DURATIONS[index] ?? null)
  const problem = duration === null ? null : durationProblem(duration, limits.days)
  if (problem !== null) fields.blame('expire_after_duration', problem)
  return decideLifetime({ days, duration }, limits.days)
}

/** Mail is not there; what asks for it is refused rather than silently not sent. */
function refuseNotifications(fields: Fields): void {
  if (fields.given('notify_emails_to') !== null) fields.blame('notify_emails_to', 'are not available')
  if (fields.given('notify_emails_to_locale') !== null)
    fields.blame('notify_emails_to_locale', 'is not available')
}
