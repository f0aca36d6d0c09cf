// Tokens of sessions and one-time links, and recovery codes: shown once, stored as SHA-256.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { sha256 } from './digest.ts'
import { randomBase32 } from './random.ts'

/** 160 random bits as 32 lower-case letters and digits. */
export function newRandomToken(): string {
  return randomBase32(32)
}

export function hashRandomToken(token: string): Buffer {
  return sha256(token)
}

/** The token in the forms of one session (against CSRF); reveals nothing about the session's own token. */
export function formTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('oncebox/1/form').digest('base64url')
}

/** Compares in constant time, so that the time does not show how much of a guess is right. */
export function isSameSecret(one: string, other: string): boolean {
  const [first, second] = [hashRandomToken(one), hashRandomToken(other)]
  return timingSafeEqual(first, second)
}

/** 80 random bits in groups that are easy to copy: `k3m9-qx2v-n4t8-bw5h`. */
export function newRecoveryCode(): string {
  return randomBase32(16).replace(/(.{4})(?=.)/g, '$1-')
}

/** Ignores case, blanks and hyphens. */
export function hashRecoveryCode(typed: string): Buffer {
  return hashRandomToken(typed.toLowerCase().replace(/[\s-]/g, ''))
}
