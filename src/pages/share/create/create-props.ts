// The props of the parts of the create form.

import type { PushLimits } from '../../../domain/new-push.ts'
import type { Problems } from '../../../domain/problems.ts'
import { PUSH_KINDS } from '../../../domain/push.ts'
import type { WordKey, Words } from '../../../words/words.ts'
import type { FieldOf } from '../../frame/fields.tsx'
import type { Guest } from '../../frame/guest.ts'
import type { SealingScripts } from '../../frame/sealing.tsx'
import type { Typed } from './create-sender.ts'

/** The kinds in the form. Wi-Fi is a kind of its own here; in the API it is a QR code. */
export const FORM_KINDS = [...PUSH_KINDS, 'wifi'] as const
export type FormKind = (typeof FORM_KINDS)[number]

/** The payload field of each kind, and its label. */
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

/** The URLs of scripts that are loaded on demand. */
export type CreateScripts = { wordlist: string; qrPreview: string } & Pick<SealingScripts, 'age' | 'seal'>

export type FieldsProps = {
  words: Words
  href: Guest['href']
  /** Whether an account opened the form, so that it offers everything that an account may send. */
  isOfAccount: boolean
  /** Whether anyone may create an account. */
  signups: boolean
  limits: PushLimits
  typed: Typed
  problems: Problems
  /** Whether the form is shown again. Its notice then has the focus, not its first field. */
  isAgain: boolean
  createScripts: CreateScripts
}

export type PartProps = FieldsProps & {
  kind: FormKind
  texts: Record<string, string>
  field: FieldOf
  /** Whether the field of this kind has the initial focus. */
  starts(kind: FormKind): boolean
}
