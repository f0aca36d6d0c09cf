// A sign-in that has given its password but not yet its code: sealed into the form, so that the server stores nothing.

import type { Keyring } from './keyring.ts'
import { openFromText, sealToText } from './sealed-field.ts'

/** `until` in milliseconds since 1970; `proof` binds to the password and second factor at that time. */
export type Pending = { accountId: number; email: string; until: number; proof: string }

const PLACE = { subkey: 'owner', subject: new Uint8Array(), field: 'pending sign-in' } as const

export function sealPending(pending: Pending, keyring: Keyring): string {
  return sealToText(JSON.stringify(pending), keyring, PLACE)
}

/** Null when this server did not make it or it was altered. Does not check `until`. */
export function openPending(text: string, keyring: Keyring): Pending | null {
  const opened = openFromText(text, keyring, PLACE)
  return opened === null ? null : JSON.parse(opened)
}
