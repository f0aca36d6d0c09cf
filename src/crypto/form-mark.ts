// Who opened a form, carried by the form itself: a mark of the account, which only this server can make. It outlives the
// session, so that a form can tell that its account is signed out, or that another one is signed in.

import { createHmac } from 'node:crypto'
import type { InstanceKey, Keyring } from './keyring.ts'
import { isSameText } from './random-token.ts'

const NOBODY = 'nobody'

/** `null`: opened by somebody who was not signed in. */
export type Opener = { accountId: number | null }

export function newFormMark({ accountId }: Opener, { sealing }: Keyring): string {
  return accountId === null ? NOBODY : markOf(accountId, sealing)
}

/** Null for what is no mark of ours. */
export function readFormMark(mark: string, { keys }: Keyring): Opener | null {
  if (mark === NOBODY) return { accountId: null }
  const id = /^(\d{1,15})\./.exec(mark)?.[1]
  if (id === undefined) return null
  const accountId = Number(id)
  return keys.some((key) => isSameText(mark, markOf(accountId, key))) ? { accountId } : null
}

function markOf(accountId: number, { forms }: InstanceKey): string {
  const mac = createHmac('sha256', forms).update(`create form of account ${accountId}`).digest('base64url')
  return `${accountId}.${mac}`
}
