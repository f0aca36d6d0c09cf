// Stored API tokens, of which only hashes are kept. Each exported operation is one atomic step.

import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { type ApiToken, requireTokenRoom } from '../../../domain/account.ts'
import { MINUTE, type Now } from '../../../domain/time.ts'
import type { ApiTokenStore, ApiTokenToStore, Authenticated } from '../../accounts-face.ts'
import type { Damage } from '../../every-engine/damage.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { accounts, apiTokens } from '../engine/schema.ts'
import { checksumOf, requireIntactRow } from '../integrity/row-checksum.ts'
import { presentAccount } from './account-rows.ts'
import { requireSession } from './sessions.ts'

export function createApiTokens(options: {
  connection: Connection
  transact: Transact
  now: Now
  damage: Pick<Damage, 'presentIntact'>
}): ApiTokenStore {
  const { transact, now, damage } = options
  const { orm } = options.connection
  const byHash = orm
    .select({ account: accounts, token: apiTokens })
    .from(apiTokens)
    .innerJoin(accounts, eq(accounts.id, apiTokens.accountId))
    .where(and(eq(apiTokens.hash, sql.placeholder('hash')), isNull(accounts.disabledAt)))
    .prepare()
  const setLastUsed = orm
    .update(apiTokens)
    .set({ lastUsedAt: sql`${sql.placeholder('now')}` })
    .where(eq(apiTokens.id, sql.placeholder('id')))
    .prepare()

  function addApiToken({ accountId, name, prefix, hash, session }: ApiTokenToStore): Promise<ApiToken> {
    return transact(() => {
      requireSession(options.connection, session)
      requireTokenRoom(listNames(accountId), name)
      const token = { accountId, name, prefix, hash, createdAt: now(), lastUsedAt: null }
      const id = insertToken({ orm }, token)
      return { id, name, prefix, createdAt: token.createdAt, lastUsedAt: null }
    })
  }

  function listNames(accountId: number): Pick<ApiToken, 'id' | 'name' | 'prefix'>[] {
    const { id, name, prefix } = apiTokens
    return orm
      .select({ id, name, prefix })
      .from(apiTokens)
      .where(eq(apiTokens.accountId, accountId))
      .orderBy(asc(id))
      .all()
  }

  async function listApiTokens(accountId: number): Promise<ApiToken[]> {
    const rows = orm
      .select()
      .from(apiTokens)
      .where(eq(apiTokens.accountId, accountId))
      .orderBy(asc(apiTokens.id))
      .all()
    return damage.presentIntact(rows, presentToken)
  }

  async function findByHash(hash: Uint8Array): Promise<Authenticated | null> {
    const row = byHash.get({ hash })
    if (row === undefined) return null
    const { id: tokenId, lastUsedAt } = intact(row.token)
    return { tokenId, lastUsedAt, account: presentAccount(row.account) }
  }

  async function noteUse({ tokenId, lastUsedAt }: Authenticated): Promise<void> {
    const time = now()
    if (lastUsedAt !== null && time - lastUsedAt < MINUTE) return
    await transact(() => void setLastUsed.run({ now: time, id: tokenId }))
  }

  function removeApiToken(id: number): Promise<void> {
    return transact(() => void orm.delete(apiTokens).where(eq(apiTokens.id, id)).run())
  }

  return {
    addApiToken,
    listNames: async (accountId) => listNames(accountId),
    listApiTokens,
    findByHash,
    noteUse,
    removeApiToken,
  }
}

type TokenRow = typeof apiTokens.$inferSelect

/** Within a transaction. Returns its id. */
export function insertToken(
  { orm }: Pick<Connection, 'orm'>,
  token: Omit<TokenRow, 'id' | 'checksum'>,
): number {
  const row = { ...token, checksum: checksumOfToken(token) }
  return orm.insert(apiTokens).values(row).returning({ id: apiTokens.id }).get().id
}

/** Throws when the row was altered on disk. */
function intact(row: TokenRow): TokenRow {
  requireIntactRow(row, checksumOfToken(row), `API token ${row.id}`)
  return row
}

/** Throws when the row was altered on disk. */
export function presentToken(row: TokenRow): ApiToken {
  const { id, name, prefix, createdAt, lastUsedAt } = intact(row)
  return { id, name, prefix, createdAt, lastUsedAt }
}

/** Does not cover the time of last use, which is written often and may be wrong without harm. */
function checksumOfToken({
  accountId,
  name,
  prefix,
  hash,
  createdAt,
}: Omit<TokenRow, 'id' | 'checksum'>): number {
  return checksumOf([accountId, name, prefix, hash, createdAt])
}
