// Randomness from the system's CSPRNG, in the forms that Oncebox needs.

/** Crockford's base32 in lower case: without i, l, o and u, which are easily misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** `length` random bytes, 65,536 at most. */
export function randomKey(length: number): Buffer {
  return fillRandomly(Buffer.alloc(length))
}

/** Overwrites all bytes, 65,536 at most, with random ones. */
export function fillRandomly<Bytes extends Buffer<ArrayBuffer>>(bytes: Bytes): Bytes {
  return crypto.getRandomValues(bytes)
}

/** `characters` letters and digits of 5 random bits each. */
export function randomBase32(characters: number): string {
  const bytes = randomKey(characters)
  // Writes the letters over the random bytes: joining strings takes four times as long.
  for (let at = 0; at < characters; at += 1) bytes[at] = ALPHABET.charCodeAt((bytes[at] ?? 0) & 31)
  return bytes.toString('latin1')
}

/**
 * Makes request ids, for the log and for error reports. A random prefix keeps them unique across restarts.
 */
export function createRequestIds(): () => string {
  const start = randomBase32(6)
  let requests = 0
  return () => {
    requests += 1
    return `${start}-${requests.toString(36)}`
  }
}
