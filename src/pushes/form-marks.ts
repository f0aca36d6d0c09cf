// Marks in forms that name the account that opened them, even after its session has ended.

import { newFormMark, type Opener, readFormMark } from '../crypto/form-mark.ts'
import type { Keyring } from '../crypto/keyring.ts'
import type { Account } from '../domain/account.ts'

export type FormMarks = ReturnType<typeof createFormMarks>

export function createFormMarks(keyring: Keyring) {
  return {
    issue: (account: Account | null): string => newFormMark({ accountId: account?.id ?? null }, keyring),
    /** Null when this server did not make the mark. */
    read: (mark: string): Opener | null => readFormMark(mark, keyring),
  }
}
