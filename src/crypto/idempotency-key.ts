// Idempotency keys: how the record of one is found, and how its answer is sealed.
//
// The sealing key is derived from the idempotency key, which is not stored, so the database and the instance
// key together cannot open the answer.

import { hmac, sha256 } from './digest.ts'
import { deriveKey } from './hkdf.ts'
import type { InstanceKey } from './keyring.ts'
import { randomKey } from './random.ts'
import { openField, sealField } from './sealed-field.ts'

const FINGERPRINT_BYTES = 32

/** `scope` names the account or the address that the key belongs to. */
export type PresentedKey = { key: string; scope: string }

/** The answer stored for a key: a fingerprint of the request's fields, and the push that was created. */
export type KeptAnswer = { fingerprint: Buffer; urlToken: string }

/** 128 random bits as 22 letters, digits, hyphens and underscores. */
export function newIdempotencyKey(): string {
  return randomKey(16).toString('base64url')
}

/** HMAC-SHA256(idempotency subkey, scope and key). */
export function lookupOfKey({ key, scope }: PresentedKey, { idempotency }: InstanceKey): Buffer {
  return hmac(idempotency, `${scope}\n${key}`)
}

/** SHA-256 of any JSON value. */
export function fingerprintOf(value: unknown): Buffer {
  return sha256(JSON.stringify(value))
}

/** Seals an answer. The result always has 88 bytes, whatever was pushed. */
export function sealAnswer(answer: KeptAnswer, presented: PresentedKey, instanceKey: InstanceKey): Buffer {
  const plain = Buffer.concat([answer.fingerprint, Buffer.from(answer.urlToken)])
  const { key, place } = sealingOf(presented, instanceKey)
  return sealField(plain, key, place)
}

/** Returns null when a bit was changed or the key is another one. */
export function openAnswer(
  sealed: Uint8Array,
  presented: PresentedKey,
  instanceKey: InstanceKey,
): KeptAnswer | null {
  const { key, place } = sealingOf(presented, instanceKey)
  const plain = openField(sealed, key, place)
  if (plain === null) return null
  const urlToken = plain.subarray(FINGERPRINT_BYTES).toString('latin1')
  return { fingerprint: plain.subarray(0, FINGERPRINT_BYTES), urlToken }
}

function sealingOf(presented: PresentedKey, instanceKey: InstanceKey) {
  const { idempotency, number } = instanceKey
  const lookup = lookupOfKey(presented, instanceKey)
  const material = [idempotency, presented.key]
  const key = { key: deriveKey({ material, salt: lookup, info: 'oncebox/1/idempotency' }), number }
  return { key, place: { subject: lookup, field: 'idempotency' } }
}
