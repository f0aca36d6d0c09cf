// A nonce for one page: random bytes and a time, bound to the page's subject by an HMAC whose key ends with the process.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomKey } from './random.ts'

const RANDOM_BYTES = 12
const TIME_BYTES = 6
const MAC_BYTES = 16
const BODY_BYTES = RANDOM_BYTES + TIME_BYTES

/** Makes and reads nonces. Those of another process are refused. */
export function createNonceMint() {
  const key = randomKey(32)

  function mac(body: Uint8Array, subject: string): Buffer {
    return createHmac('sha256', key).update(body).update(subject).digest().subarray(0, MAC_BYTES)
  }

  function make(subject: string, now: number): string {
    const body = Buffer.concat([randomKey(RANDOM_BYTES), Buffer.alloc(TIME_BYTES)])
    body.writeUIntBE(now, RANDOM_BYTES, TIME_BYTES)
    return Buffer.concat([body, mac(body, subject)]).toString('base64url')
  }

  /** When the nonce was made, in milliseconds since 1970; null when it is not valid for this subject. */
  function read(nonce: string, subject: string): number | null {
    const bytes = Buffer.from(nonce, 'base64url')
    if (bytes.length !== BODY_BYTES + MAC_BYTES || bytes.toString('base64url') !== nonce) return null
    const body = bytes.subarray(0, BODY_BYTES)
    if (!timingSafeEqual(bytes.subarray(BODY_BYTES), mac(body, subject))) return null
    return body.readUIntBE(RANDOM_BYTES, TIME_BYTES)
  }

  return { make, read }
}
