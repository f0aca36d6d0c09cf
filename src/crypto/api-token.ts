// API tokens: `obx_` and 160 random bits, shown once, stored as SHA-256.

import { sha256 } from './digest.ts'
import { randomBase32 } from './random.ts'

const MARK = 'obx_'
const PREFIX_LENGTH = MARK.length + 8

export function newApiToken(): string {
  return MARK + randomBase32(32)
}

/** The part of a token that may be shown, to tell it from others. */
export function apiTokenPrefix(apiToken: string): string {
  return apiToken.slice(0, PREFIX_LENGTH)
}

/** Whether a word of the text starts like an API token, in any letter case. */
export function mentionsApiToken(text: string): boolean {
  return /(?:^|[^a-z0-9])obx_/i.test(text)
}

export function hashApiToken(apiToken: string): Buffer {
  return sha256(apiToken)
}
