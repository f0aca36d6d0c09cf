// Fields that Lockbox, a library for Ruby, has sealed: base64 of nonce, AES-256-GCM ciphertext and tag.

import { hkdfSync } from 'node:crypto'
import { decrypt, NONCE_BYTES } from './gcm.ts'

const KEY_BYTES = 32
const PURPOSE = Buffer.alloc(32, 0xb4)
const NO_DATA = new Uint8Array()

/**
 * Derives the key of one column: HKDF-SHA384 of the master key, with the table as salt. `column` ends in
 * `_ciphertext`.
 */
export function deriveColumnKey(masterKey: Uint8Array, place: { table: string; column: string }): Buffer {
  const info = Buffer.concat([PURPOSE, Buffer.from(place.column)])
  return Buffer.from(hkdfSync('sha384', masterKey, place.table, info, KEY_BYTES))
}

/** Returns the plain bytes; null if the key is a wrong one or the value was altered. */
export function openLockboxField(sealed: string, key: Uint8Array): Buffer | null {
  const bytes = Buffer.from(sealed, 'base64')
  return decrypt(bytes.subarray(NONCE_BYTES), { key, nonce: bytes.subarray(0, NONCE_BYTES), data: NO_DATA })
}
