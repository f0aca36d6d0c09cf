// Download grants: everything that a download needs, sealed by the server, so that nothing readable is kept for it.

import type { Keyring } from './keyring.ts'
import { keyNumberOf, openField, sealField } from './sealed-field.ts'

export type Grant = {
  /** Lookup of the push, in hex. */
  push: string
  file: string
  /** The file's own key, in base64. */
  key: string
  filename: string
  contentType: string
  size: number
  /** Milliseconds since 1970. */
  until: number
}

const PLACE = { pushId: new Uint8Array(), field: 'grant' }

export function sealGrant(grant: Grant, { sealing }: Keyring): string {
  const key = { key: sealing.grants, number: sealing.number }
  return sealField(Buffer.from(JSON.stringify(grant)), key, PLACE).toString('base64url')
}

/** null when it is none of ours or was altered; says nothing about its validity. */
export function openGrant(text: string, { keys }: Keyring): Grant | null {
  const sealed = Buffer.from(text, 'base64url')
  const key = keys.find(({ number }) => number === keyNumberOf(sealed))
  // Decoding is lenient; only the spelling that was handed out counts.
  if (key === undefined || sealed.toString('base64url') !== text) return null
  const opened = openField(sealed, { key: key.grants, number: key.number }, PLACE)
  return opened === null ? null : JSON.parse(opened.toString('utf8'))
}
