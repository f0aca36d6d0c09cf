// API tokens, tokens of sessions and one-time links, and recovery codes: random, shown once, stored as
// SHA-256.

import { timingSafeEqual } from 'node:crypto'
import { hmac, sha256 } from './digest.ts'
import { randomBase32 } from './random.ts'

const MARK = 'obx_'
const PREFIX_LENGTH = MARK.length + 8

/** `obx_` and 160 random bits. */
export function newApiToken(): string {
  return MARK + randomBase32(32)
}

/** Returns the start of a token, which may be shown to identify it. */
export function apiTokenPrefix(apiToken: string): string {
  return apiToken.slice(0, PREFIX_LENGTH)
}

/** Whether a word of the text starts like an API token, in any letter case. */
export function mentionsApiToken(text: string): boolean {
  return /(?:^|[^a-z0-9])obx_/i.test(text)
}

/** Generates a token for a session or a link: 160 random bits as 32 lower-case letters and digits. */
export function newRandomToken(): string {
  return randomBase32(32)
}

export function hashToken(token: string): Buffer {
  return sha256(token)
}

/** Returns the CSRF token for the forms of one session. It reveals nothing about the session's own token. */
export function formTokenOf(sessionToken: string): string {
  return hmac(sessionToken, 'oncebox/1/form').toString('base64url')
}

/** Compares in constant time, so that the duration does not reveal how much of a guess is right. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(sha256(one), sha256(other))
}

/** 80 random bits in groups that are easy to copy: `k3m9-qx2v-n4t8-bw5h`. */
export function newRecoveryCode(): string {
  return randomBase32(16).replace(/(.{4})(?=.)/g, '$1-')
}

/** Ignores case, blanks and hyphens. */
export function hashRecoveryCode(typed: string): Buffer {
  return sha256(typed.toLowerCase().replace(/[\s-]/g, ''))
}
