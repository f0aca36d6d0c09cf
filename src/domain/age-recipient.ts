// Public keys of age, which backups and answers to requests are encrypted for (https://age-encryption.org,
// and C2SP/age for the kinds), and what tells an encrypted answer.

import { bech32 } from '@scure/base'

/** Bytes of the key by the prefix of its kind: X25519, post-quantum, and both for hardware keys. */
const KINDS: Record<string, number> = { age: 32, age1pq: 1216, age1tag: 33, age1tagpq: 1249 }

/**
 * All that a regular expression can tell of a key: not its checksum, which follows the bytes in 6 characters.
 */
export const RECIPIENT_PATTERN = `^\\s*(${Object.entries(KINDS)
  .map(([kind, bytes]) => `${kind}1[02-9ac-hj-np-z]{${Math.ceil((bytes * 8) / 5) + 6}}`)
  .join('|')})\\s*$`

const PROBLEM = 'must be a public key of age, which begins with age1, such as age-keygen prints'

/** Refuses a key with a typing error: it has a checksum. Never repeats a secret key. */
export function ageRecipient(text: string): { value: string } | { problem: string; isSecret?: true } {
  const value = text.trim()
  if (/AGE-SECRET-KEY-/i.test(value))
    return { problem: `${PROBLEM} ("age-keygen -y" shows it); this is a secret key, keep it`, isSecret: true }
  if (/^age1plugin|^age1yubikey|^ssh-/i.test(value))
    return { problem: `${PROBLEM}; keys of plugins and of SSH cannot be used here` }
  return isKey(value) ? { value } : { problem: PROBLEM }
}

/** Whether a text is encrypted for somebody's key, as an answer to a request may be. */
export function isSealedText(text: string): boolean {
  return text.startsWith('-----BEGIN AGE ENCRYPTED FILE-----')
}

/** Whether a file is: its own name is inside. */
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

/**
 * The keys of an identity file as age-keygen writes it: one a line, comments with `#`. Empty for a file
 * without any.
 */
export function identitiesIn(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '' && !line.startsWith('#'))
}
