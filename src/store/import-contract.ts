// What a store promises to an import: everything comes in one step, and is known for good.

import type { Account } from '../domain/account.ts'
import type { EntryToImport } from '../domain/audit.ts'
import type { Push } from '../domain/push.ts'
import type { Credentials } from './accounts-contract.ts'
import type { SealedFile, SealedLabels, SealedSecrets } from './sealed-contract.ts'

export type AccountToImport = Pick<Credentials, 'passwordHash' | 'totpStep'> &
  Pick<Account, 'email' | 'isAdmin' | 'disabledAt' | 'createdAt'>

export type PushToImport = {
  push: Push
  lookup: Buffer
  keyNumber: number
  /** Null for an expired push. */
  secrets: SealedSecrets | null
  labels: SealedLabels | null
  /** Uploads of this import. */
  files: SealedFile[]
  entries: EntryToImport[]
}

/** Within the one step. Nothing is visible elsewhere before it ends. One call at a time. */
export type Import = {
  isKnown(marks: readonly Uint8Array[]): Promise<boolean>
  /** `mark`: a keyed hash of something that came. */
  remember(mark: Uint8Array): Promise<void>
  findAccount(email: string): Promise<Pick<Account, 'id' | 'isAdmin'> | null>
  /** Resolves to its id, which the sealed secret of a second factor is bound to. */
  addAccount(account: AccountToImport): Promise<number>
  setTotpSecret(secret: { accountId: number; sealedSecret: Uint8Array; step: number | null }): Promise<void>
  /**
   * The token has no prefix that may be shown. Another name is found where this is taken. Passes over a known
   * hash.
   */
  addApiToken(token: { accountId: number; name: string; hash: Buffer }): Promise<void>
  addPush(push: PushToImport): Promise<void>
}

export type ImportStore = {
  /**
   * Runs `work` as one step: all of it happens, or nothing. It may run several times. Everything else that
   * would change something may wait meanwhile, so no server may serve from this store: throws `conflict` when
   * one does.
   */
  importAll(work: (step: Import) => Promise<void>): Promise<void>
  isKnown(marks: readonly Uint8Array[]): Promise<boolean>
}

/** What is here, for a dry run. */
export type ImportLook = Pick<Import, 'isKnown' | 'findAccount'>
