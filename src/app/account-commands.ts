// Opens the accounts and API tokens of a data folder for the account commands, whether or not a server runs.

import { ARGON2_COST } from '../crypto/passphrase.ts'
import type { Now } from '../domain/time.ts'
import { type Accounts, createAccounts } from '../services/accounts/accounts.ts'
import { type ApiTokens, createApiTokens } from '../services/accounts/api-tokens.ts'
import { createPasswords } from '../services/accounts/passwords.ts'
import { openAccountStore } from '../store/account-store.ts'

export type AccountCommands = {
  dataDir: string
  /** The user that owns the folder, if root has become that user; null otherwise. */
  owner: string | null
  accounts: Accounts
  apiTokens: ApiTokens
  close(): Promise<void>
}

/** `create` makes a missing data folder. Without it, throws a DomainError that names the path and the remedy. */
export async function openAccounts(
  { dataDir, create }: { dataDir: string; create?: { keyFile: string | null } | undefined },
  { now, writeLog }: { now: Now; writeLog: (line: string) => void },
): Promise<AccountCommands> {
  const onError = (cause: unknown) => writeLog(`oncebox: ${cause instanceof Error ? cause.message : cause}`)
  const store = openAccountStore({ dataDir, now, onError, create })
  const accounts = createAccounts({ store, passwords: createPasswords(ARGON2_COST) })
  const apiTokens = createApiTokens({ apiTokens: store.apiTokens, accounts })
  return { dataDir, owner: store.owner, accounts, apiTokens, close: store.close }
}
