// Stored API tokens, of which only hashes are kept. Each exported operation is one atomic step.

import { asc, eq } from 'drizzle-orm'
import { type ApiToken, requireTokenRoom } from '../../../domain/account.ts'
import { MINUTE, type Now } from '../../../domain/time.ts'
import type { ApiTokenStore, ApiTokenToStore, Authenticated } from '../../accounts-face.ts'
import { inactiveAccount } from '../../every-engine/refusals.ts'
import type { Read, Session, Transact } from '../engine/database.ts'
import { columnsTo } from '../schema/rows.ts'
import { accounts, apiTokens } from '../schema/schema.ts'
import { type AccountRow, lockAccount, presentAccount, requireSession } from './account-rows.ts'

/** Runs with every request that presents a token. */
const BY_HASH = `
  SELECT t.id::float8 AS "tokenId", t.last_used_at::float8 AS "lastUsedAt", ${columnsTo(accounts, 'a.')}
  FROM api_tokens t JOIN accounts a ON a.id = t.account_id WHERE t.hash = $1 AND a.disabled_at IS NULL`

type FoundToken = AccountRow & { tokenId: number; lastUsedAt: number | null }

export function createApiTokens(options: { read: Read; transact: Transact; now: Now }): ApiTokenStore {
  const { read, transact, now } = options

  /** Tokens of one account are added one after another, so that neither their number nor their names can be raced. */
  function addApiToken({ session: signedIn, ...token }: ApiTokenToStore): Promise<ApiToken> {
    return transact(async (session) => {
      const account = await lockAccount(session, token.accountId)
      await requireSession(session, signedIn)
      if (account === undefined) throw inactiveAccount()
      requireTokenRoom(await namesOf(session, token.accountId), token.name)
      const row = { ...token, createdAt: now(), lastUsedAt: null }
      const [inserted] = await session.orm.insert(apiTokens).values(row).returning()
      if (inserted === undefined) throw new Error('PostgreSQL inserted no row')
      return presentToken(inserted)
    })
  }

  function listNames(accountId: number) {
    return read((session) => namesOf(session, accountId))
  }

  async function listApiTokens(accountId: number): Promise<ApiToken[]> {
    const rows = await read(({ orm }) =>
      orm.select().from(apiTokens).where(eq(apiTokens.accountId, accountId)).orderBy(asc(apiTokens.id)),
    )
    return rows.map(presentToken)
  }

  async function findByHash(hash: Uint8Array): Promise<Authenticated | null> {
    const [row] = await read((session) => session.query<FoundToken>(BY_HASH, [hash]))
    if (row === undefined) return null
    return { tokenId: row.tokenId, lastUsedAt: row.lastUsedAt, account: presentAccount(row) }
  }

  async function noteUse({ tokenId, lastUsedAt }: Authenticated): Promise<void> {
    const time = now()
    if (lastUsedAt !== null && time - lastUsedAt < MINUTE) return
    await transact(({ orm }) =>
      orm.update(apiTokens).set({ lastUsedAt: time }).where(eq(apiTokens.id, tokenId)),
    )
  }

  async function removeApiToken(id: number): Promise<void> {
    await transact(({ orm }) => orm.delete(apiTokens).where(eq(apiTokens.id, id)))
  }

  return { addApiToken, listNames, listApiTokens, findByHash, noteUse, removeApiToken }
}

function namesOf({ orm }: Session, accountId: number): Promise<Pick<ApiToken, 'id' | 'name' | 'prefix'>[]> {
  const { id, name, prefix } = apiTokens
  return orm
    .select({ id, name, prefix })
    .from(apiTokens)
    .where(eq(apiTokens.accountId, accountId))
    .orderBy(asc(id))
}

function presentToken(row: typeof apiTokens.$inferSelect): ApiToken {
  const { id, name, prefix, createdAt, lastUsedAt } = row
  return { id, name, prefix, createdAt, lastUsedAt }
}
