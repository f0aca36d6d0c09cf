// Opens the accounts and API tokens of a data folder or of PostgreSQL for the account commands, even while a
// server runs.

import { createAccounts } from '../accounts/accounts.ts'
import { createApiTokens } from '../accounts/api-tokens.ts'
import { createPasswords } from '../accounts/passwords.ts'
import { ARGON2_COST } from '../crypto/passphrase.ts'
import type { Account } from '../domain/account.ts'
import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import type { Now } from '../domain/time.ts'
import { openFolderDatabase } from '../store/opening/folder-database.ts'
import { createAccountOperations } from '../store/operations.ts'
import { openCommandAudit } from './audited-commands.ts'
import { auditAccounts, auditTokens } from './audited-services.ts'

type AccountsPlace = {
  dataDir: string
  /** PostgreSQL; null for the database in the data folder. */
  database: DatabaseAddress | null
  /** Creates a missing data folder, or the tables of an empty database. */
  create?: { keyFile: string | null } | undefined
  now: Now
  /** Warns that a line of the audit log is missing. */
  warn: (warning: string) => void
}

/** Operations on accounts. `where` names the data folder or the database in messages. */
export type AccountCommands = Awaited<ReturnType<typeof openAccounts>>

/**
 * Opens the accounts. Without `create`, throws a DomainError that names the path and the remedy when the data
 * folder is missing.
 */
export async function openAccounts(place: AccountsPlace) {
  const { where, close, ...parts } =
    place.database === null ? await openFolder(place) : await openDatabase(place.database, place)
  const store = createAccountOperations({ ...parts, trusted: parts.now, setupLinks: 1 })
  const accounts = createAccounts({ store, passwords: createPasswords(ARGON2_COST) })
  const apiTokens = createApiTokens({ apiTokens: store.apiTokens, accounts })
  /** Counts the credentials that work without the account's password and are revoked with it. */
  async function countMade({ id }: Pick<Account, 'id'>) {
    const links = (await store.accountLinks.listLinks()).filter(({ createdBy }) => createdBy === id).length
    const tokens = (await store.apiTokens.listApiTokens(id)).length
    return { tokens, links, webhooks: (await store.webhooks.listWebhooks(id)).length }
  }
  const audit = await openCommandAudit(place)
  return {
    ...{ where, countMade },
    accounts: audit === null ? accounts : auditAccounts(accounts, audit.on),
    apiTokens: audit === null ? apiTokens : auditTokens(apiTokens, audit.on),
    [Symbol.asyncDispose]: async () => {
      await audit?.close()
      await close()
    },
  }
}

async function openFolder({ dataDir, create, now }: AccountsPlace) {
  const { owner, steps, close } = await openFolderDatabase({ dataDir, create })
  const as = owner === null ? '' : ` (as ${owner}, who owns it)`
  return { where: `Data folder: ${dataDir}${as}`, steps, now, close }
}

/** Loaded only here, because commands on a data folder need no client of PostgreSQL. */
async function openDatabase(address: DatabaseAddress, { create }: AccountsPlace) {
  const { openServerDatabase } = await import('../store/opening/server-database.ts')
  const { steps, now, close } = await openServerDatabase({ address, create: create !== undefined })
  return { where: `Database: ${presentDatabaseAddress(address)}`, steps, now, close }
}
