// The token in a secret link, and the lookup by which its push is found. The token itself is not stored.

import { halfOf, hmac } from './digest.ts'
import { randomBase32 } from './random.ts'

const LENGTH = 26

/** 130 random bits as 26 lower-case letters and digits. */
export function newUrlToken(): string {
  return randomBase32(LENGTH)
}

export function isUrlToken(text: string): boolean {
  return text.length === LENGTH ? /^[0-9a-hjkmnp-tv-z]+$/.test(text) : isShortUrlToken(text)
}

/** Whether the text has the form of the tokens that imported pushes keep: about 55 random bits at least. */
export function isShortUrlToken(text: string): boolean {
  return /^[a-z0-9_-]{11,19}$/.test(text)
}

/** The first 16 bytes of HMAC-SHA256(lookup subkey, url_token). */
export function lookupOf(urlToken: string, lookupKey: Uint8Array): Buffer {
  return halfOf(hmac(lookupKey, urlToken))
}
