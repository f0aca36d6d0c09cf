// Tokens that are shown once and kept as SHA-256: of sessions and of one-time links; and recovery codes.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { randomBase32 } from './random.ts'

/** 160 random bits as 32 lower-case letters and digits. */
export function newRandomToken(): string {
  return randomBase32(32)
}

export function hashRandomToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** What the forms of one session carry; says nothing about the session's own token. */
export function formTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('oncebox/1/form').digest('base64url')
}

export function isSameText(one: string, other: string): boolean {
  const [first, second] = [hashRandomToken(one), hashRandomToken(other)]
  return timingSafeEqual(first, second)
}

/** 80 random bits as people copy them: `k3m9-qx2v-n4t8-bw5h`. */
export function newRecoveryCode(): string {
  return randomBase32(16).replace(/(.{4})(?=.)/g, '$1-')
}

/** However it was typed: case, blanks and hyphens do not matter. */
export function hashRecoveryCode(typed: string): Buffer {
  return hashRandomToken(typed.toLowerCase().replace(/[\s-]/g, ''))
}
