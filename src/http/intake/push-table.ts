// The table of a new push: its members with the limits and defaults of this instance. Requests are read by it, and the
// reference shows it.

import { Type } from '@sinclair/typebox'
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
import { asFiles, JSON_FILE } from './json-files.ts'
import type { Fields } from './members.ts'
import {
  asBoolean,
  asInteger,
  asString,
  asText,
  asTextOfBytes,
  asUnavailable,
  type Member,
  member,
} from './members.ts'

export type PushTable = ReturnType<typeof createPushTable>

type Values = { [Name in keyof PushTable]: PushTable[Name] extends Member<infer Value> ? Value : never }

export type PushFields = Fields<Values>

export function createPushTable(limits: PushLimits) {
  const { payloadBytes, days, views, retrievalStep, deletableByViewer } = limits
  return {
    payload: member(Type.String({ maxLength: payloadBytes, description: describePayload(limits) }), asString),
    kind: member(
      Type.String({ enum: [...limits.kinds], description: 'file when there are files, else text.' }),
      asText,
    ),
    files: member(Type.Array(JSON_FILE, describeFiles(limits)), asFiles),
    expire_after_days: member(rangeOf(days, 'Days until it expires.'), asInteger),
    expire_after_views: member(rangeOf(views, 'Retrievals until it expires.'), asInteger),
    expire_after_duration: member(
      Type.Integer({ minimum: 0, maximum: DURATIONS.length - 1, description: describeDurations(days) }),
      asInteger,
    ),
    deletable_by_viewer: member(
      Type.Boolean({
        default: deletableByViewer,
        description: 'Whether recipients may expire it. Off for a url push that does not say.',
      }),
      asBoolean,
    ),
    retrieval_step: member(
      Type.Boolean({ default: retrievalStep, description: 'Ask for a confirmation before retrieving.' }),
      asBoolean,
    ),
    passphrase: member(
      Type.String({
        maxLength: MAX_PASSPHRASE_BYTES,
        description: `Needed to retrieve; at most ${MAX_PASSPHRASE_BYTES} bytes of UTF-8.`,
      }),
      asTextOfBytes,
    ),
    name: member(
      Type.String({ maxLength: MAX_NAME_CHARACTERS, description: 'Label shown to the owner.' }),
      asText,
    ),
    note: member(
      Type.String({ maxLength: MAX_NOTE_CHARACTERS, description: 'Note visible to the owner only.' }),
      asText,
    ),
    notify_emails_to: member(withoutMail(), asUnavailable('unavailable_list')),
    notify_emails_to_locale: member(withoutMail(), asUnavailable('unavailable')),
  }
}

function describePayload({ payloadBytes, kinds }: PushLimits): string {
  const qr = kinds.has('qr') ? ` A qr holds at most ${MAX_QR_CHARACTERS} characters.` : ''
  return `The secret, at most ${payloadBytes} bytes of UTF-8. Required for every kind but file.${qr}`
}

function describeFiles({ kinds, files, fileBytes }: PushLimits) {
  if (!kinds.has('file')) return { maxItems: 0, description: 'Files are disabled on this server.' }
  return { maxItems: files, description: `Needs a token. A file has at most ${fileBytes} bytes.` }
}

function rangeOf({ min, max, default: preset }: Range, description: string) {
  return Type.Integer({ minimum: min, maximum: max, default: preset, description })
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

function withoutMail() {
  return Type.String({ maxLength: 0, description: 'Refused, because this server sends no mail.' })
}
