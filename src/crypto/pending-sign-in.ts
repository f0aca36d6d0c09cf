// A sign-in between its password and its code: sealed by the server and carried by the form, so that nothing is kept.

import type { Keyring } from './keyring.ts'
import { keyNumberOf, openField, sealField } from './sealed-field.ts'

/** `until` in milliseconds since 1970; `proof` is of the password and the second factor as they were. */
export type Pending = { accountId: number; email: string; until: number; proof: string }

const PLACE = { pushId: new Uint8Array(), field: 'pending sign-in' }

export function sealPending(pending: Pending, { sealing }: Keyring): string {
  const key = { key: sealing.owner, number: sealing.number }
  return sealField(Buffer.from(JSON.stringify(pending)), key, PLACE).toString('base64url')
}

/** null when it is none of ours or was altered; says nothing about its validity. */
export function openPending(text: string, { keys }: Keyring): Pending | null {
  const sealed = Buffer.from(text, 'base64url')
  const key = keys.find(({ number }) => number === keyNumberOf(sealed))
  if (key === undefined) return null
  const opened = openField(sealed, { key: key.owner, number: key.number }, PLACE)
  return opened === null ? null : JSON.parse(opened.toString('utf8'))
}
