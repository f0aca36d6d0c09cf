// Seals and opens by the format that the command line uses, in the browser. Loaded only where something is
// encrypted: it is larger than all other scripts together.

import { keyCheckOf, newKey, recipientOf } from '../../../../age/keys.ts'
import { openText, sealText } from '../../../../age/sealing.ts'

// On plain HTTP browsers have no WebCrypto. The library then does its work itself, if it learns so by the
// error of browsers whose WebCrypto lacks X25519.
if (crypto.subtle === undefined) {
  const importKey = () => Promise.reject(new DOMException('no WebCrypto here', 'NotSupportedError'))
  Object.defineProperty(crypto, 'subtle', { value: { importKey } })
}

export * from '../../../../age/keys.ts'
export { openFile, openText, roomFor, sealFile, sealText } from '../../../../age/sealing.ts'

/** Throws unless this browser opens with the identity what it has sealed for it; null tests a new key. */
export async function testKey(identity = null) {
  const own = identity ?? (await newKey()).identity
  const text = `Oncebox ${crypto.getRandomValues(new Uint32Array(1))[0]}`
  const opened = await openText(await sealText(text, [await recipientOf(own)]), [own])
  if (opened !== text) throw new Error('this browser does not open what it has sealed')
}

/** Returns the bytes that a text takes once it is sealed for one key (C2SP, age.md). */
export function sealedBytes(text) {
  const plain = new TextEncoder().encode(text).length
  const age = HEADER_BYTES + plain + TAG_BYTES * Math.max(1, Math.ceil(plain / CHUNK_BYTES))
  const encoded = Math.ceil(age / 3) * 4
  return FRAME_BYTES + encoded + Math.ceil(encoded / LINE)
}

/** The header with one X25519 stanza, and the nonce after it. */
const HEADER_BYTES = 168 + 16
const TAG_BYTES = 16
const CHUNK_BYTES = 64 * 1024
/** The first and the last line of the armour. */
const FRAME_BYTES = 35 + 33
const LINE = 64

/** Returns the identities in an identity file, as age-keygen writes it; [] for any other file. */
export async function identitiesIn(file) {
  if (file.size > 64 * 1024) return []
  return [...(await file.text()).matchAll(/^AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}\s*$/gm)].map(([line]) =>
    line.trim(),
  )
}

export const isKeyOf = async (identity, keyCheck) => keyCheckOf(await recipientOf(identity)) === keyCheck
