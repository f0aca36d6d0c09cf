// Marks in forms that name the account that opened them. A mark outlives the session, so that the server notices when that
// account has signed out or another has signed in.

import type { Keyring } from '../crypto/keyring.ts'
import { openFromText, sealToText } from '../crypto/sealed-field.ts'
import type { Account } from '../domain/account.ts'

export type FormMarks = ReturnType<typeof createFormMarks>

/** `accountId` is null when nobody was signed in. */
type Opener = { accountId: number | null }

const NOBODY = 'nobody'
const PLACE = { subkey: 'pages', subject: new Uint8Array(), field: 'form mark' } as const

export function createFormMarks(keyring: Keyring) {
  function issue(account: Account | null): string {
    return account === null ? NOBODY : sealToText(String(account.id), keyring, PLACE)
  }

  /** Null when this server did not make the mark. */
  function read(mark: string): Opener | null {
    if (mark === NOBODY) return { accountId: null }
    const opened = openFromText(mark, keyring, PLACE)
    return opened === null ? null : { accountId: Number(opened) }
  }

  return { issue, read }
}
