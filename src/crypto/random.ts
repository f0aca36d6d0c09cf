// Randomness: the system's CSPRNG, in the shapes Oncebox needs.

import { randomBytes } from 'node:crypto'

/** Crockford's base32 in lower case: no i, l, o, u to be misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** `length` bytes nobody can guess. */
export function randomKey(length: number): Buffer {
  return randomBytes(length)
}

/** `characters` letters and digits of 5 random bits each. */
export function randomBase32(characters: number): string {
  let text = ''
  for (const byte of randomBytes(characters)) text += ALPHABET[byte & 31]
  return text
}
