// What the account commands work with: the accounts and API tokens of a data folder, beside its server or without one.

import type { Now } from '../domain/time.ts'
import { type Accounts, createAccounts } from '../services/accounts/accounts.ts'
import { type ApiTokens, createApiTokens } from '../services/accounts/api-tokens.ts'
import { openAccountStore } from '../store/account-store.ts'

export type AccountCommands = {
  dataDir: string
  /** Whose folder it is, when root has become that user. */
  owner: string | null
  accounts: Accounts
  apiTokens: ApiTokens
  close(): Promise<void>
}

/** Without `create`, which makes a data folder where there is none, throws DomainError naming path and remedy then. */
export async function openAccounts(
  { dataDir, create }: { dataDir: string; create?: { keyFile: string | null } | undefined },
  { now, writeLog }: { now: Now; writeLog: (line: string) => void },
): Promise<AccountCommands> {
  const onError = (cause: unknown) => writeLog(`oncebox: ${cause instanceof Error ? cause.message : cause}`)
  const store = openAccountStore({ dataDir, now, onError, create })
  const accounts = createAccounts(store)
  const apiTokens = createApiTokens({ apiTokens: store.apiTokens, accounts })
  return { dataDir, owner: store.owner, accounts, apiTokens, close: store.close }
}
