// What the parts of the create form are given.

import type { PushLimits } from '../../../domain/new-push.ts'
import type { Problems } from '../../../domain/problems.ts'
import { PUSH_KINDS } from '../../../domain/push.ts'
import type { WordKey, Words } from '../../../words/words.ts'
import type { FieldOf } from '../../frame/fields.tsx'
import type { Guest } from '../../frame/guest.ts'
import type { Typed } from './create-sender.ts'

/** What people choose from. A Wi-Fi network is a kind of its own to them; the API knows its QR code. */
export const FORM_KINDS = [...PUSH_KINDS, 'wifi'] as const
export type FormKind = (typeof FORM_KINDS)[number]

/** The field for what is shared of each kind, and its label. */
export const PAYLOADS = {
  text: ['payload', 'payload_text'],
  file: ['payload', 'payload_file'],
  url: ['link', 'payload_url'],
  qr: ['qr', 'payload_qr'],
  wifi: ['wifi_network', 'wifi_network'],
} as const satisfies Record<FormKind, readonly [id: string, label: WordKey]>

export function formKinds({ kinds }: PushLimits): FormKind[] {
  return FORM_KINDS.filter((kind) => kinds.has(kind === 'wifi' ? 'qr' : kind))
}

/** The URLs of what a script loads when it is needed. */
export type CreateScripts = { wordlist: string; qrPreview: string }

export type FieldsProps = {
  words: Words
  href: Guest['href']
  /** Somebody opened the form signed in, so that it offers everything that an account may send. */
  isOfAccount: boolean
  /** Whether everybody may create an account. */
  signups: boolean
  limits: PushLimits
  typed: Typed
  problems: Problems
  /** A form that is shown again: the reason has the focus, not the first field. */
  isAgain: boolean
  createScripts: CreateScripts
}

export type PartProps = FieldsProps & {
  kind: FormKind
  texts: Record<string, string>
  field: FieldOf
  /** Whether the focus starts in the field of this kind. */
  starts(kind: FormKind): boolean
}
