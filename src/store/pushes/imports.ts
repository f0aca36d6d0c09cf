// Stores what is imported from another server, in the import's single transaction.

import type { Account } from '../../domain/account.ts'
import type { EntryToImport } from '../../domain/audit.ts'
import type { Language } from '../../domain/language.ts'
import type { Push } from '../../domain/push.ts'
import type { Now } from '../../domain/time.ts'
import { findForImport, insertAccount } from '../accounts/accounts.ts'
import { importToken } from '../accounts/api-tokens.ts'
import { keepPreferences } from '../accounts/preferences.ts'
import { importTwoFactor } from '../accounts/two-factor.ts'
import type { Credentials } from '../accounts-contract.ts'
import type { SealedFile, SealedLabels, SealedSecrets } from '../sealed-contract.ts'
import { insertUnlessThere, select } from '../statements.ts'
import { type Alone, has, type Parts, type Run, type Step } from '../steps.ts'
import { imported } from '../tables.ts'
import { insertPush } from './push-rows.ts'

const FIND = select(imported, 'WHERE mark = $1')
const insert = insertUnlessThere(imported)

type AccountToImport = Pick<Credentials, 'passwordHash' | 'totpStep'> &
  Pick<Account, 'email' | 'isAdmin' | 'disabledAt' | 'createdAt'>

export type PushToImport = {
  push: Push
  lookup: Buffer
  keyNumber: number
  /** The sealed secrets; null for an expired push. */
  secrets: SealedSecrets | null
  labels: SealedLabels | null
  /** The files that this import has uploaded. */
  files: SealedFile[]
  entries: EntryToImport[]
}

export function createImports({ alone, ...parts }: Pick<Parts, 'steps' | 'now'> & { alone: Alone }) {
  return {
    /**
     * Runs `work` in one transaction, as a whole or not at all. May run it several times. Every other change
     * may have to wait, so no server may use this store: throws `conflict` if one does.
     */
    importAll: (work: (transaction: Import) => Promise<void>) =>
      alone((run) => work(createImport(run, parts.now))),
    isKnown: createImportLook(parts.steps).isKnown,
  }
}

/** Finds what was imported before; enough for a dry run. */
export function createImportLook({ read }: Pick<Parts['steps'], 'read'>) {
  return {
    isKnown: (marks: readonly Uint8Array[]) => read(() => isKnown(marks)),
    findAccount: (email: string) => read(() => findForImport(email)),
  }
}

/** The operations of one import. Its changes become visible when it ends. Do not call concurrently. */
export type Import = ReturnType<typeof createImport>

export type ImportLook = ReturnType<typeof createImportLook>

function createImport(run: Run, now: Now) {
  return {
    isKnown: (marks: readonly Uint8Array[]) => run(isKnown(marks)),
    /** `mark`: a keyed hash of an imported row. */
    remember: async (mark: Uint8Array): Promise<void> => void (await run(insert({ mark }))),
    findAccount: (email: string) => run(findForImport(email)),
    /** Adds an account. Resolves to its id, to which the secret of a second factor is sealed. */
    addAccount: async (account: AccountToImport) => (await run(insertAccount(account))).id,
    setLanguage: ({ accountId, language }: { accountId: number; language: Language }) =>
      run(keepPreferences(accountId, { mailLanguage: language })),
    setTotpSecret: (secret: { accountId: number; sealedSecret: Uint8Array; step: number | null }) =>
      run(importTwoFactor(secret)),
    /**
     * Adds a token without a visible prefix, under another name if this name is taken. Skips a hash that
     * exists.
     */
    addApiToken: (token: { accountId: number; name: string; hash: Buffer }) =>
      run(importToken({ ...token, createdAt: now() })),
    addPush: (push: PushToImport) => run(addPush(push)),
  }
}

function* isKnown(marks: readonly Uint8Array[]): Step<boolean> {
  for (const mark of marks) if (yield* has(FIND, mark)) return true
  return false
}

/** Adds a push. Marks the views that the other server counted as seen by the owner. */
function* addPush(of: PushToImport): Step<void> {
  const entries = of.entries.map((entry) => ({ kind: entry.kind, at: entry.at, visit: entry }))
  yield* insertPush(of, { entries, seenViews: of.push.views, hasRoom: true, requestId: null })
}
