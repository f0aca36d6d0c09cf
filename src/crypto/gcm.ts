// AES-256-GCM: one call to encrypt, and one to decrypt and authenticate.

import { createCipheriv, createDecipheriv } from 'node:crypto'

export const NONCE_BYTES = 12
export const TAG_BYTES = 16

/** A nonce is used once with a key. `data` is authenticated, and not part of the result. */
type GcmOptions = { key: Uint8Array; nonce: Uint8Array; data: Uint8Array }

/** Keep ciphertext and tag separate, because joining them would copy every byte again. */
export function encrypt(plain: Uint8Array, { key, nonce, data }: GcmOptions): [Buffer, Buffer] {
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(data)
  const ciphertext = cipher.update(plain)
  cipher.final()
  return [ciphertext, cipher.getAuthTag()]
}

/**
 * Decrypts the bytes after `start` in `sealed`, which ends with its tag. Returns null if the ciphertext, the
 * key, the nonce or the associated data do not match.
 */
export function decrypt(sealed: Uint8Array, { key, nonce, data }: GcmOptions, start = 0): Buffer | null {
  const end = sealed.length - TAG_BYTES
  if (end < start) return null
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAAD(data)
  decipher.setAuthTag(sealed.slice(end))
  try {
    const plain = decipher.update(partOf(sealed, start, end))
    decipher.final()
    return plain
  } catch {
    return null
  }
}

/**
 * Copies a short part, because a view of SQLite's bytes would first move them to another buffer, which takes
 * longer.
 */
function partOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return end - start > 4096 ? bytes.subarray(start, end) : bytes.slice(start, end)
}
