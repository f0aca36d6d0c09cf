// The account that opened a form, authenticated with an HMAC and carried in the form. It outlives the session, so that
// the server notices when that account has signed out or another has signed in.

import { createHmac } from 'node:crypto'
import type { InstanceKey, Keyring } from './keyring.ts'
import { isSameSecret } from './random-token.ts'

const NOBODY = 'nobody'

/** `accountId` is null when nobody was signed in. */
export type Opener = { accountId: number | null }

export function newFormMark({ accountId }: Opener, { sealing }: Keyring): string {
  return accountId === null ? NOBODY : markOf(accountId, sealing)
}

/** Null when this server did not make the mark. */
export function readFormMark(mark: string, { keys }: Keyring): Opener | null {
  if (mark === NOBODY) return { accountId: null }
  const id = /^(\d{1,15})\./.exec(mark)?.[1]
  if (id === undefined) return null
  const accountId = Number(id)
  return keys.some((key) => isSameSecret(mark, markOf(accountId, key))) ? { accountId } : null
}

function markOf(accountId: number, { forms }: InstanceKey): string {
  const mac = createHmac('sha256', forms).update(`create form of account ${accountId}`).digest('base64url')
  return `${accountId}.${mac}`
}
