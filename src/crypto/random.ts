// Randomness: the system's CSPRNG, in the shapes Oncebox needs.

/** Crockford's base32 in lower case: no i, l, o, u to be misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** `length` bytes nobody can guess, 65,536 at most. */
export function randomKey(length: number): Buffer {
  return fillRandomly(Buffer.alloc(length))
}

/** Replaces all bytes, 65,536 at most, by such that nobody can guess. */
export function fillRandomly<Bytes extends Buffer<ArrayBuffer>>(bytes: Bytes): Bytes {
  return crypto.getRandomValues(bytes)
}

/** `characters` letters and digits of 5 random bits each. */
export function randomBase32(characters: number): string {
  let text = ''
  for (const byte of randomKey(characters)) text += ALPHABET[byte & 31]
  return text
}
