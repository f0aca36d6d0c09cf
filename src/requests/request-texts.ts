// The sealed fields of a request: the token of its link, its name, its message and the verifier of its
// passphrase. As with the labels of pushes, the instance key opens them, because the owner lists the request
// and strangers read the message.

import type { Keyring } from '../crypto/keyring.ts'
import { isSameSecret } from '../crypto/tokens.ts'
import { lookupOf } from '../crypto/url-token.ts'
import { intactOrNull } from '../domain/damage.ts'
import { DamageError } from '../domain/errors.ts'
import { type LabelContext, openLabel, openOwned, sealLabel, sealOwned } from '../pushes/labels.ts'
import type { LinkedRequest, StoredRequest } from '../store/requests-contract.ts'

type RequestTexts = { urlToken: string; name: string; message: string }

/**
 * Prefixes the token with a slash. No token of a push contains one, so a push's token never finds a request.
 */
export function lookupOfRequest(urlToken: string, lookupKey: Uint8Array): Buffer {
  return lookupOf(`request/${urlToken}`, lookupKey)
}

/** `verifier`: argon2id of the passphrase, in hex; '' without one. */
export function sealTexts(texts: RequestTexts & { verifier: string }, place: LabelContext) {
  return {
    urlToken: sealOwned('request_token', texts.urlToken, place),
    name: sealLabel('request_name', texts.name, place),
    message: sealLabel('request_message', texts.message, place),
    verifier: sealLabel('request_verifier', texts.verifier, place),
  }
}

/** Throws DamageError if decryption fails, because the database was altered. */
export function openTexts(request: StoredRequest, keyring: Keyring): RequestTexts {
  const place = placeOf(request, keyring)
  return {
    urlToken: openOwned('request_token', request.urlToken, place),
    name: openLabel('request_name', request.name, place),
    message: openLabel('request_message', request.message, place),
  }
}

/** Returns the request sealed under the current key; null for a damaged one. */
export function reseal(request: StoredRequest, keyring: Keyring): LinkedRequest | null {
  const { sealing } = keyring
  const place = placeOf(request, keyring)
  const texts = intactOrNull(() => ({
    ...openTexts(request, keyring),
    verifier: openLabel('request_verifier', request.verifier, place),
  }))
  if (texts === null) return null
  const lookup = lookupOfRequest(texts.urlToken, sealing.lookup)
  return { lookup, keyNumber: sealing.number, ...sealTexts(texts, { ...place, pushId: lookup }) }
}

/** Whether the passphrase is right. `key`: argon2id of the given passphrase. Throws as `openTexts` does. */
export function isRightKey(key: Uint8Array, request: StoredRequest, keyring: Keyring): boolean {
  if (request.verifier === null) throw new DamageError(nameOfRequest(request))
  return isSameSecret(
    verifierOf(key),
    openOwned('request_verifier', request.verifier, placeOf(request, keyring)),
  )
}

export function nameOfRequest({ id }: Pick<StoredRequest, 'id'>): string {
  return `request ${id}`
}

function placeOf(request: StoredRequest, keyring: Keyring) {
  return { keyring, pushId: request.lookup, ownerId: request.accountId, pushName: nameOfRequest(request) }
}

export function verifierOf(passphraseKey: Uint8Array): string {
  return Buffer.from(passphraseKey).toString('hex')
}
