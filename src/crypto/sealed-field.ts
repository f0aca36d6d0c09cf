// A sealed field: AES-256-GCM with the place it belongs to as associated data.
//
//   1 byte   format, always 1
//   1 byte   number of the instance key behind it
//  12 bytes  nonce, random
//   n bytes  ciphertext
//  16 bytes  tag

import { createCipheriv, createDecipheriv } from 'node:crypto'
import { randomKey } from './random.ts'

const FORMAT = 1
const HEADER = 2
const NONCE = 12
const TAG = 16

/** The push a field belongs to and its name: a value moved to another place does not open. */
export type Place = { pushId: Uint8Array; field: string }

export type SealingKey = { key: Uint8Array; number: number }

export function sealField(plaintext: Uint8Array, { key, number }: SealingKey, place: Place): Buffer {
  const nonce = randomKey(NONCE)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(associatedData(number, place))
  const ciphertext = cipher.update(plaintext)
  cipher.final()
  return Buffer.concat([Uint8Array.of(FORMAT, number), nonce, ciphertext, cipher.getAuthTag()])
}

/** The plaintext, or null when the key is not the one or a bit was changed. */
export function openField(sealed: Uint8Array, { key, number }: SealingKey, place: Place): Buffer | null {
  if (sealed.length < HEADER + NONCE + TAG || sealed[0] !== FORMAT || sealed[1] !== number) return null
  const body = sealed.length - TAG
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(HEADER, HEADER + NONCE))
  decipher.setAAD(associatedData(number, place))
  decipher.setAuthTag(sealed.subarray(body))
  try {
    const plaintext = decipher.update(sealed.subarray(HEADER + NONCE, body))
    decipher.final()
    return plaintext
  } catch {
    return null
  }
}

/** The number of the instance key a sealed value names. */
export function keyNumberOf(sealed: Uint8Array): number {
  return sealed[1] ?? 0
}

function associatedData(number: number, { pushId, field }: Place): Buffer {
  const data = Buffer.alloc(HEADER + pushId.length + field.length)
  data[0] = FORMAT
  data[1] = number
  data.set(pushId, HEADER)
  data.write(field, HEADER + pushId.length, 'latin1')
  return data
}
