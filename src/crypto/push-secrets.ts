// The secrets of a push: a random data key seals the payload, and a key derived from the link (and the
// passphrase, if any) wraps the data key. Without the link, the disk and the instance key together cannot
// open anything.

import { deriveKey } from './hkdf.ts'
import type { InstanceKey } from './keyring.ts'
import { randomKey } from './random.ts'
import { openField, type SealingKey, sealField } from './sealed-field.ts'

const KEY_BYTES = 32
const SALT_BYTES = 16

/** The stored form of `PlainSecrets`, destroyed when the push expires. */
type SealedPayload = { salt: Uint8Array; wrappedKey: Uint8Array; payload: Uint8Array }

/** The inputs that are needed to open a push. */
type Opener = {
  instanceKey: InstanceKey
  pushId: Uint8Array
  urlToken: string
  /** argon2id of the passphrase, null without one. */
  passphraseKey: Uint8Array | null
}

/** A new data key, for the secrets of one push. */
export function newDataKey(): Buffer {
  return randomKey(KEY_BYTES)
}

type PlainSecrets = { payload: string; dataKey: Buffer }

export function sealSecrets({ payload, dataKey }: PlainSecrets, opener: Opener): SealedPayload {
  const { number } = opener.instanceKey
  const { pushId } = opener
  const salt = randomKey(SALT_BYTES)
  return {
    salt,
    wrappedKey: sealField(dataKey, wrappingKey(opener, salt), { subject: pushId, field: 'key' }),
    payload: sealField(Buffer.from(payload), { key: dataKey, number }, { subject: pushId, field: 'payload' }),
  }
}

/** Returns null when the link or the passphrase is wrong. The payload is null when it was altered. */
export function openSecrets(
  sealed: SealedPayload,
  opener: Opener,
): { payload: string | null; dataKey: Buffer } | null {
  const { pushId } = opener
  const { number } = opener.instanceKey
  const dataKey = openField(sealed.wrappedKey, wrappingKey(opener, sealed.salt), {
    subject: pushId,
    field: 'key',
  })
  if (dataKey === null) return null
  const payload = openField(sealed.payload, { key: dataKey, number }, { subject: pushId, field: 'payload' })
  return { payload: payload?.toString('utf8') ?? null, dataKey }
}

/** Returns the two digits of the code beside a link. They need the salt, so they vanish with the push. */
export function codeOf(urlToken: string, salt: Uint8Array): string {
  const key = deriveKey({ material: [urlToken], salt, info: 'oncebox/1/code' })
  return String(key.readUInt32BE(0) % 100).padStart(2, '0')
}

function wrappingKey({ instanceKey, urlToken, passphraseKey }: Opener, salt: Uint8Array): SealingKey {
  const material = [instanceKey.wrap, urlToken, passphraseKey ?? '']
  return { key: deriveKey({ material, salt, info: 'oncebox/1/wrap' }), number: instanceKey.number }
}
