// Public keys of age, for which backups and answers to requests are encrypted (https://age-encryption.org,
// and C2SP/age for the kinds), and how to recognise an encrypted answer.

import { bech32 } from '@scure/base'
import { conflict, type DomainError } from './errors.ts'

/** Bytes of the key, by the prefix of its kind: X25519, post-quantum, and both again for hardware keys. */
const KINDS: Record<string, number> = { age: 32, age1pq: 1216, age1tag: 33, age1tagpq: 1249 }

/** Checks everything but the checksum, the 6 characters after the bytes. */
export const RECIPIENT_PATTERN = `^\\s*(${Object.entries(KINDS)
  .map(([kind, bytes]) => `${kind}1[02-9ac-hj-np-z]{${Math.ceil((bytes * 8) / 5) + 6}}`)
  .join('|')})\\s*$`

const PROBLEM = 'must be a public key of age, which begins with age1, such as age-keygen prints'

/** Parses a public key. Its checksum catches typing errors. Messages never repeat a secret key. */
export function ageRecipient(text: string): { value: string } | { problem: string; isSecret?: true } {
  const value = text.trim()
  if (/AGE-SECRET-KEY-/i.test(value))
    return { problem: `${PROBLEM} ("age-keygen -y" shows it); this is a secret key, keep it`, isSecret: true }
  if (/^age1plugin|^age1yubikey|^ssh-/i.test(value))
    return { problem: `${PROBLEM}; keys of plugins and of SSH cannot be used here` }
  return isKey(value) ? { value } : { problem: PROBLEM }
}

/** Whether a text is encrypted with age, as an answer to a request may be. */
export function isSealedText(text: string): boolean {
  return text.startsWith('-----BEGIN AGE ENCRYPTED FILE-----')
}

/** Whether a file is encrypted with age, by its name; its original name is inside. */
export function isSealedName(filename: string): boolean {
  return /^\d+\.age$/.test(filename)
}

function isKey(value: string): boolean {
  if (!value.startsWith('age1')) return false
  const decoded = bech32.decodeUnsafe(value, false)
  if (decoded === undefined) return false
  const { prefix, words } = decoded
  return Object.hasOwn(KINDS, prefix) && bech32.fromWordsUnsafe(words)?.length === KINDS[prefix]
}

/** A file with secret keys of age, and its text. */
export type IdentityFile = { path: string; text: string }

/** Returns the secret keys of an identity file as age-keygen writes it: one a line, comments with `#`. */
export function identitiesIn(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '' && !line.startsWith('#'))
}

export function noIdentities(path: string): DomainError {
  return conflict(
    `${path} holds no secret key of age (a line that begins with AGE-SECRET-KEY-), or other lines beside it.`,
  )
}
