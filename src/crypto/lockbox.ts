// Fields that Lockbox, a library for Ruby, has sealed: base64 of nonce, AES-256-GCM ciphertext and tag.

import { createDecipheriv, hkdfSync } from 'node:crypto'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PURPOSE = Buffer.alloc(32, 0xb4)

/** The key of one column: HKDF-SHA384 of the master key; the table is the salt. `column` ends in `_ciphertext`. */
export function deriveColumnKey(masterKey: Uint8Array, place: { table: string; column: string }): Buffer {
  const info = Buffer.concat([PURPOSE, Buffer.from(place.column)])
  return Buffer.from(hkdfSync('sha384', masterKey, place.table, info, KEY_BYTES))
}

/** The plain bytes, or null when the key is another one or the value was altered. */
export function openLockboxField(sealed: string, key: Uint8Array): Buffer | null {
  const bytes = Buffer.from(sealed, 'base64')
  const body = bytes.length - TAG_BYTES
  if (body < NONCE_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(body))
  try {
    const plain = decipher.update(bytes.subarray(NONCE_BYTES, body))
    decipher.final()
    return plain
  } catch {
    return null
  }
}
