// Tells what the nodes of an instance remember outside their database from what others put in its place: an HMAC under a subkey
// of the instance key.

import { createHmac } from 'node:crypto'
import { findKey, type InstanceKey, type Keyring } from './keyring.ts'
import { isSameSecret } from './random-token.ts'

/** `key`: the number of the key. `mac`: 64 hex digits. */
export type WitnessMark = { key: number; mac: string }

/** Under the first key of the key file, as everything that is sealed. */
export function markWitness(text: string, { sealing }: Keyring): WitnessMark {
  return { key: sealing.number, mac: macOf(text, sealing) }
}

/** Whether any key of the key file made the mark for this very text. */
export function isMarked(text: string, { key: number, mac }: WitnessMark, keyring: Keyring): boolean {
  const key = findKey(keyring, number)
  return key !== null && isSameSecret(mac, macOf(text, key))
}

function macOf(text: string, { witnesses }: InstanceKey): string {
  return createHmac('sha256', witnesses).update(text).digest('hex')
}
