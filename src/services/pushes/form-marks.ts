// Marks that tell of a form who opened it, also after its session has ended.

import { newFormMark, type Opener, readFormMark } from '../../crypto/form-mark.ts'
import type { Keyring } from '../../crypto/keyring.ts'
import type { Account } from '../../domain/account.ts'

export type FormMarks = ReturnType<typeof createFormMarks>

export function createFormMarks(keyring: Keyring) {
  return {
    issue: (account: Account | null): string => newFormMark({ accountId: account?.id ?? null }, keyring),
    /** Null for what is no mark of ours. */
    read: (mark: string): Opener | null => readFormMark(mark, keyring),
  }
}
