// Idempotency keys: how the record of one is found, and what seals the answer that it stands for.
//
// The sealing key comes from the idempotency key, which is not stored: database and instance key do not open the answer.

import { createHash, createHmac, hkdfSync } from 'node:crypto'
import type { InstanceKey } from './keyring.ts'
import { randomKey } from './random.ts'
import { openField, type SealingKey, sealField } from './sealed-field.ts'

const KEY_BYTES = 32
const FINGERPRINT_BYTES = 32

/** `scope` names the account or the address that the key belongs to. */
export type PresentedKey = { key: string; scope: string }

/** What the key stands for: the fields of the request, and the push that came of them. */
export type KeptAnswer = { fingerprint: Buffer; urlToken: string }

/** 128 random bits as 22 letters, digits, hyphens and underscores. */
export function newIdempotencyKey(): string {
  return randomKey(16).toString('base64url')
}

export function isIdempotencyKey(text: string): boolean {
  return /^[\x20-\x7e]{22,128}$/.test(text)
}

/** HMAC-SHA256(idempotency subkey, scope and key). */
export function lookupOfKey({ key, scope }: PresentedKey, { idempotency }: InstanceKey): Buffer {
  return createHmac('sha256', idempotency).update(`${scope}\n${key}`).digest()
}

/** SHA-256 of any JSON value. */
export function fingerprintOf(value: unknown): Buffer {
  return createHash('sha256').update(JSON.stringify(value)).digest()
}

/** 88 bytes for a push of ours, whatever was pushed. */
export function sealAnswer(answer: KeptAnswer, presented: PresentedKey, instanceKey: InstanceKey): Buffer {
  const plain = Buffer.concat([answer.fingerprint, Buffer.from(answer.urlToken)])
  return sealField(plain, sealingKey(presented, instanceKey), placeOf(presented, instanceKey))
}

/** Null when a bit was changed. */
export function openAnswer(
  sealed: Uint8Array,
  presented: PresentedKey,
  instanceKey: InstanceKey,
): KeptAnswer | null {
  const plain = openField(sealed, sealingKey(presented, instanceKey), placeOf(presented, instanceKey))
  if (plain === null) return null
  const urlToken = plain.subarray(FINGERPRINT_BYTES).toString('latin1')
  return { fingerprint: plain.subarray(0, FINGERPRINT_BYTES), urlToken }
}

function sealingKey(presented: PresentedKey, instanceKey: InstanceKey): SealingKey {
  const material = Buffer.concat([instanceKey.idempotency, Buffer.from(presented.key)])
  const salt = lookupOfKey(presented, instanceKey)
  const key = hkdfSync('sha256', material, salt, 'oncebox/1/idempotency', KEY_BYTES)
  return { key: new Uint8Array(key), number: instanceKey.number }
}

function placeOf(presented: PresentedKey, instanceKey: InstanceKey) {
  return { pushId: lookupOfKey(presented, instanceKey), field: 'idempotency' }
}
