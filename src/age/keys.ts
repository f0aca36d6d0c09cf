// The text forms of the keys of end-to-end encryption: the key behind `#` in a link, and the short digests by
// which programs and people compare recipients (contract, "End-to-end"). Runs in the browser too.

import { sha256 } from '@noble/hashes/sha2.js'
import { base64urlnopad, bech32, hex } from '@scure/base'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'

const PREFIX = 'AGE-SECRET-KEY-'

/** 32 bytes in canonical base64url without padding: the two unused bits of the last character are zero. */
const LINK_KEY = /^[\w-]{42}[AEIMQUYcgkosw048]$/

/** 16 bytes, encoded the same way. */
const FINGERPRINT = /^[\w-]{21}[AQgw]$/

/** `linkKey` is the part behind `#` in the link; `keyCheck` is sent to the server with the push. */
export type NewKey = { identity: string; recipient: string; linkKey: string; keyCheck: string }

/** Makes the key of a new push: a fresh X25519 identity. */
export async function newKey(): Promise<NewKey> {
  const identity = await generateX25519Identity()
  const recipient = await identityToRecipient(identity)
  const linkKey = base64urlnopad.encode(bech32.decodeToBytes(identity).bytes)
  return { identity, recipient, linkKey, keyCheck: keyCheckOf(recipient) }
}

/** Returns the identity `AGE-SECRET-KEY-1…`; null for any other length or spelling. */
export function identityOfLinkKey(linkKey: string): string | null {
  if (!LINK_KEY.test(linkKey)) return null
  return bech32.encodeFromBytes(PREFIX, base64urlnopad.decode(linkKey)).toUpperCase()
}

/** Returns the public key `age1…` of an identity. */
export function recipientOf(identity: string): Promise<string> {
  return identityToRecipient(identity)
}

/** Returns 8 hex digits, by which a page or command sees that a link was cut, before a view is spent. */
export function keyCheckOf(recipient: string): string {
  return hex.encode(digestOf(recipient).subarray(0, 4))
}

/** Returns 22 characters, which stand behind `#` in the link of a request. */
export function fingerprintOf(recipient: string): string {
  return base64urlnopad.encode(digestOf(recipient).subarray(0, 16))
}

/** Returns the form that people compare, as the pages show it: `3f2a-91c0-…`. */
export function comparedFingerprintOf(recipient: string): string {
  return hex.encode(digestOf(recipient).subarray(0, 8)).replace(/(.{4})(?=.)/g, '$1-')
}

export function isFingerprint(text: string): boolean {
  return FINGERPRINT.test(text)
}

function digestOf(recipient: string): Uint8Array {
  return sha256(new TextEncoder().encode(recipient))
}
