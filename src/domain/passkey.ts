// Rules of passkeys: at which addresses a server has them, and when one may have been copied.

import { isLoopback } from '../text/local-names.ts'
import { MINUTE } from './time.ts'

/** A passkey as its owner sees it. */
export type Passkey = {
  id: number
  name: string
  /** The host name for which it was created. */
  rpId: string
  /**
   * If false, the passkey only works as second factor: the password has changed since the passkey was last
   * used with it.
   */
  signsIn: boolean
  createdAt: number
  lastUsedAt: number | null
  /** When its signature counter went back, which a copied key causes; null if it never did. */
  copiedAt: number | null
}

/** A server as browsers identify it: its host name, and the only origin from which answers are accepted. */
export type RelyingParty = { id: string; origin: string }

export const MAX_PASSKEYS = 10
export const MAX_PASSKEY_NAME_LENGTH = 100
/** Maximum length in bytes (Web Authentication, 4). */
export const MAX_CREDENTIAL_ID = 1023
/** Maximum length in bytes, twice that of an RSA key of 8192 bits. */
export const MAX_PUBLIC_KEY = 2048

/** How long a browser may take to answer a challenge. */
export const CHALLENGE_LIFETIME = 5 * MINUTE

/**
 * Returns null where browsers offer no passkeys: without a base URL, under an IP address, and over plain HTTP
 * except on localhost (W3C Secure Contexts, 3.1).
 */
export function findRelyingParty(baseUrl: string | null): RelyingParty | null {
  const url = baseUrl === null ? null : URL.parse(baseUrl)
  if (url === null) return null
  const { hostname: id, protocol, origin } = url
  const isName = !id.startsWith('[') && !/^[\d.]+$/.test(id)
  const isSecure = protocol === 'https:' || isLoopback(id)
  return isName && isSecure ? { id, origin } : null
}

/**
 * Whether a signature counter went back, so that the key must exist twice. Many authenticators do not count;
 * theirs stays 0.
 */
export function isCopied({ stored, given }: { stored: number; given: number }): boolean {
  return (stored > 0 || given > 0) && given <= stored
}

/** Returns a name without control characters; '' if none is left. */
export function passkeyNameOf(text: string): string {
  return [...text.replace(/\p{Cc}/gu, '').trim()].slice(0, MAX_PASSKEY_NAME_LENGTH).join('')
}
