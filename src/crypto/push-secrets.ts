// The secrets of a push: a random data key seals the payload, and the link (with the passphrase, when there is one)
// opens the data key. Neither disk nor instance key is enough without the link.

import { hkdfSync } from 'node:crypto'
import type { InstanceKey } from './keyring.ts'
import { randomKey } from './random.ts'
import { openField, type SealingKey, sealField } from './sealed-field.ts'

const KEY_BYTES = 32
const SALT_BYTES = 16

/** What is stored, all of it destroyed when the push expires. */
export type SealedSecrets = {
  salt: Uint8Array
  wrappedKey: Uint8Array
  payload: Uint8Array
  /** Parameters and salt of the passphrase's argon2id, null without a passphrase. */
  passphraseSalt: Uint8Array | null
}

/** What opens a push. */
export type Opener = {
  instanceKey: InstanceKey
  pushId: Uint8Array
  urlToken: string
  /** argon2id of the passphrase, null without one. */
  passphraseKey: Uint8Array | null
}

/** A fresh data key, for the secrets of one push. */
export function newDataKey(): Buffer {
  return randomKey(KEY_BYTES)
}

export type PlainSecrets = { payload: string; dataKey: Buffer }

export function sealSecrets(
  { payload, dataKey }: PlainSecrets,
  opener: Opener,
): Omit<SealedSecrets, 'passphraseSalt'> {
  const { number } = opener.instanceKey
  const { pushId } = opener
  const salt = randomKey(SALT_BYTES)
  return {
    salt,
    wrappedKey: sealField(dataKey, wrappingKey(opener, salt), { pushId, field: 'key' }),
    payload: sealField(Buffer.from(payload), { key: dataKey, number }, { pushId, field: 'payload' }),
  }
}

/** Null when link or passphrase do not fit. A payload of null does not open with its key: it was altered. */
export function openSecrets(
  sealed: SealedSecrets,
  opener: Opener,
): { payload: string | null; dataKey: Buffer } | null {
  const { pushId } = opener
  const { number } = opener.instanceKey
  const dataKey = openField(sealed.wrappedKey, wrappingKey(opener, sealed.salt), { pushId, field: 'key' })
  if (dataKey === null) return null
  const payload = openField(sealed.payload, { key: dataKey, number }, { pushId, field: 'payload' })
  return { payload: payload?.toString('utf8') ?? null, dataKey }
}

function wrappingKey({ instanceKey, urlToken, passphraseKey }: Opener, salt: Uint8Array): SealingKey {
  const parts = [instanceKey.wrap, Buffer.from(urlToken)]
  if (passphraseKey !== null) parts.push(passphraseKey)
  const key = hkdfSync('sha256', Buffer.concat(parts), salt, 'oncebox/1/wrap', KEY_BYTES)
  return { key: new Uint8Array(key), number: instanceKey.number }
}
