// A nonce for one page: random bytes and a time, bound to the page's subject by an HMAC.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomKey } from './random.ts'

const RANDOM_BYTES = 12
const TIME_BYTES = 6
const MAC_BYTES = 16
const BODY_BYTES = RANDOM_BYTES + TIME_BYTES

export type NonceKeys = readonly [Uint8Array, ...Uint8Array[]]

/** Makes nonces under the first key, and reads those made under any of them. */
export function createNonceMint(keys: NonceKeys) {
  const [sealing] = keys

  function make(subject: string, now: number): string {
    const body = Buffer.concat([randomKey(RANDOM_BYTES), Buffer.alloc(TIME_BYTES)])
    body.writeUIntBE(now, RANDOM_BYTES, TIME_BYTES)
    return Buffer.concat([body, macOf(body, subject, sealing)]).toString('base64url')
  }

  /** When the nonce was made, in milliseconds since 1970; null when it is not valid for this subject. */
  function read(nonce: string, subject: string): number | null {
    const bytes = Buffer.from(nonce, 'base64url')
    if (bytes.length !== BODY_BYTES + MAC_BYTES || bytes.toString('base64url') !== nonce) return null
    const body = bytes.subarray(0, BODY_BYTES)
    const mac = bytes.subarray(BODY_BYTES)
    if (!keys.some((key) => timingSafeEqual(mac, macOf(body, subject, key)))) return null
    return body.readUIntBE(RANDOM_BYTES, TIME_BYTES)
  }

  return { make, read }
}

function macOf(body: Uint8Array, subject: string, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(body).update(subject).digest().subarray(0, MAC_BYTES)
}
