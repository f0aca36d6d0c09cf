// Opens the accounts and API tokens of a data folder or of PostgreSQL for the account commands, whether or not a server runs.

import { type Accounts, createAccounts } from '../accounts/accounts.ts'
import { type ApiTokens, createApiTokens } from '../accounts/api-tokens.ts'
import { createPasswords } from '../accounts/passwords.ts'
import { ARGON2_COST } from '../crypto/passphrase.ts'
import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import type { Now } from '../domain/time.ts'
import { openFolderDatabase } from '../store/opening/folder-database.ts'
import { createAccountOperations } from '../store/opening/operations.ts'

export type AccountCommands = {
  /** The data folder or the database, for the person who runs the command. */
  where: string
  accounts: Accounts
  apiTokens: ApiTokens
  close(): Promise<void>
}

export type AccountsPlace = {
  dataDir: string
  /** PostgreSQL; null for the database in the data folder. */
  database: DatabaseAddress | null
  /** Makes a missing data folder, or the tables in an empty database. */
  create?: { keyFile: string | null } | undefined
}

type Ports = { now: Now; writeLog: (line: string) => void }

/** Without `create`, throws a DomainError that names the path and the remedy when the data folder is missing. */
export async function openAccounts(place: AccountsPlace, ports: Ports): Promise<AccountCommands> {
  const { where, close, ...parts } =
    place.database === null ? await openFolder(place, ports) : await openDatabase(place.database, place)
  const store = createAccountOperations({ ...parts, setupLinks: 1 })
  const accounts = createAccounts({ store, passwords: createPasswords(ARGON2_COST) })
  const apiTokens = createApiTokens({ apiTokens: store.apiTokens, accounts })
  return { where, accounts, apiTokens, close }
}

async function openFolder({ dataDir, create }: AccountsPlace, { now }: Ports) {
  const { owner, steps, close } = await openFolderDatabase({ dataDir, create })
  const as = owner === null ? '' : ` (as ${owner}, who owns it)`
  return { where: `Data folder: ${dataDir}${as}`, steps, now, close }
}

/** Loaded only here, because commands on a data folder need no client of PostgreSQL. */
async function openDatabase(address: DatabaseAddress, place: AccountsPlace) {
  const { openServerDatabase } = await import('../store/opening/server-database.ts')
  const { steps, now, close } = await openServerDatabase({ address, create: place.create !== undefined })
  return { where: `Database: ${presentDatabaseAddress(address)}`, steps, now, close }
}
