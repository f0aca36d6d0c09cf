// A sealed field: AES-256-GCM with the field's place as associated data.
//
//   1 byte   format, always 1
//   1 byte   number of the instance key
//  12 bytes  nonce, random
//   n bytes  ciphertext
//  16 bytes  tag

import { decrypt, encrypt, NONCE_BYTES, TAG_BYTES } from './gcm.ts'
import { findKey, type Keyring } from './keyring.ts'
import { randomKey } from './random.ts'

const FORMAT = 1
const HEADER = 2
const BODY = HEADER + NONCE_BYTES

/** Owner and name of a sealed field. A value that was moved to another place does not open. */
export type Place = { subject: Uint8Array; field: string }

export type SealingKey = { key: Uint8Array; number: number }

/** A place, and the subkey of the instance key that seals it. */
export type KeyringPlace = Place & { subkey: 'owner' | 'grants' | 'pages' }

/** Seals under the keyring's sealing key. */
export function sealWithKeyring(plaintext: Uint8Array, { sealing }: Keyring, place: KeyringPlace): Buffer {
  return sealField(plaintext, { key: sealing[place.subkey], number: sealing.number }, place)
}

/**
 * Opens a value with the key that it names. Returns null if the keyring does not hold that key, or if the
 * value was altered.
 */
export function openWithKeyring(sealed: Uint8Array, keyring: Keyring, place: KeyringPlace): Buffer | null {
  const key = findKey(keyring, sealed[1] ?? 0)
  return key && openField(sealed, { key: key[place.subkey], number: key.number }, place)
}

/** Seals a text in base64url, for a URL or a form that the server gets back. */
export function sealToText(plaintext: string, keyring: Keyring, place: KeyringPlace): string {
  return sealWithKeyring(Buffer.from(plaintext), keyring, place).toString('base64url')
}

/** Returns null when this server did not seal the text or it was altered. */
export function openFromText(text: string, keyring: Keyring, place: KeyringPlace): string | null {
  const sealed = Buffer.from(text, 'base64url')
  // Decoding base64url is lenient: accept only the exact spelling that was issued.
  if (sealed.toString('base64url') !== text) return null
  return openWithKeyring(sealed, keyring, place)?.toString('utf8') ?? null
}

/** Seals any JSON value like `sealToText`. */
export function sealJson(value: unknown, keyring: Keyring, place: KeyringPlace): string {
  return sealToText(JSON.stringify(value), keyring, place)
}

/** Returns the value given to `sealJson`; null if this server did not seal it, or if it was altered. */
export function openJson<T>(text: string, keyring: Keyring, place: KeyringPlace): T | null {
  const opened = openFromText(text, keyring, place)
  return opened === null ? null : JSON.parse(opened)
}

/** A value that the server itself uses, bound to an account, or to none where `accountId` is null. */
type OfAccount = {
  accountId: number | null
  field: 'totp' | 'webhook' | 'link_mail' | 'account_mail'
  keyring: Keyring
}

export function sealForAccount(plaintext: string, { keyring, ...of }: OfAccount): Buffer {
  return sealWithKeyring(Buffer.from(plaintext), keyring, placeOfAccount(of))
}

/**
 * Returns null when the database was altered, the key is missing, or the value was sealed for another account
 * or field.
 */
export function openForAccount(sealed: Uint8Array, { keyring, ...of }: OfAccount): string | null {
  return openWithKeyring(sealed, keyring, placeOfAccount(of))?.toString('utf8') ?? null
}

function placeOfAccount({ accountId, field }: Omit<OfAccount, 'keyring'>): KeyringPlace {
  return { subkey: 'owner', subject: Buffer.from(`account/${accountId ?? 0}`), field }
}

export function sealField(plaintext: Uint8Array, { key, number }: SealingKey, place: Place): Buffer {
  const nonce = randomKey(NONCE_BYTES)
  const [ciphertext, tag] = encrypt(plaintext, { key, nonce, data: associatedData(number, place) })
  return Buffer.concat([Uint8Array.of(FORMAT, number), nonce, ciphertext, tag])
}

/** Returns the plaintext; null if the key is wrong or a bit was changed. */
export function openField(sealed: Uint8Array, { key, number }: SealingKey, place: Place): Buffer | null {
  if (sealed.length < BODY + TAG_BYTES || sealed[0] !== FORMAT || sealed[1] !== number) return null
  const nonce = sealed.slice(HEADER, BODY)
  return decrypt(sealed, { key, nonce, data: associatedData(number, place) }, BODY)
}

/**
 * Builds the associated data. Field names are ASCII: copying the letters one by one is three times as fast as
 * an encoder, and this runs for each field.
 */
function associatedData(number: number, { subject, field }: Place): Uint8Array {
  const start = HEADER + subject.length
  const data = new Uint8Array(start + field.length)
  data[0] = FORMAT
  data[1] = number
  data.set(subject, HEADER)
  for (let at = 0; at < field.length; at += 1) data[start + at] = field.charCodeAt(at)
  return data
}
