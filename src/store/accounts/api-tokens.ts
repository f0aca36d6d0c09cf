// Stored API tokens, of which only the hashes are kept.

import { type ApiToken, requireTokenRoom } from '../../domain/account.ts'
import { MINUTE } from '../../domain/time.ts'
import type { ApiTokenToStore, Authenticated } from '../accounts-contract.ts'
import { inactiveAccount } from '../refusals.ts'
import { insertInto, type RowOf, select, statement } from '../statements.ts'
import { all, first, has, isThere, type Parts, run, type Step, together } from '../steps.ts'
import { accounts, apiTokens } from '../tables.ts'
import { lockAccount, presentAccount } from './accounts.ts'
import { requireSession } from './sessions.ts'

/** Prepared, because both statements run with every request that presents a token. */
const BY_HASH = select(apiTokens, 'WHERE hash = $1')
const OWNER = select(
  accounts,
  'WHERE id = (SELECT account_id FROM api_tokens WHERE hash = $1) AND disabled_at IS NULL',
)
const OF_ACCOUNT = select(apiTokens, 'WHERE account_id = $1 ORDER BY id')
const insert = insertInto(apiTokens)
const SET_LAST_USED = statement('UPDATE api_tokens SET last_used_at = $2 WHERE id = $1')
const REMOVE = statement('DELETE FROM api_tokens WHERE id = $1')

export function createApiTokens(parts: Pick<Parts, 'steps' | 'now' | 'trusted'>) {
  const { steps, now, trusted } = parts
  const { read, write } = steps
  /** Locks the account, so that concurrent adds exceed neither the number of tokens nor duplicate a name. */
  function* add({ session, accountId, ...token }: ApiTokenToStore): Step<ApiToken> {
    const account = yield* lockAccount(accountId)
    yield* requireSession(session)
    if (account === null) throw inactiveAccount()
    requireTokenRoom(yield* all(OF_ACCOUNT, accountId), token.name)
    return presentToken(yield* insert({ ...token, accountId, createdAt: now() }))
  }

  async function listApiTokens(accountId: number): Promise<ApiToken[]> {
    return (await read(() => all(OF_ACCOUNT, accountId))).map(presentToken)
  }

  /** Returns null for an unknown token and for a disabled account. */
  async function findByHash(hash: Uint8Array): Promise<Authenticated | null> {
    const [token, account] = await read(
      () => together(first(BY_HASH, hash), first(OWNER, hash)),
      (found) => found.every(isThere),
    )
    if (token === null || account === null) return null
    const { lastSignInAt } = account
    return { tokenId: token.id, lastUsedAt: token.lastUsedAt, account: presentAccount(account), lastSignInAt }
  }

  /** Writes at most once a minute, and nothing while the clock is in doubt. */
  async function noteUse({ tokenId, lastUsedAt }: Authenticated): Promise<void> {
    const time = trusted()
    if (time === null) return
    // Ignore a last use in the future, which was recorded while the clock was ahead.
    if (lastUsedAt === null || Math.abs(time - lastUsedAt) >= MINUTE)
      await write(() => run(SET_LAST_USED, tokenId, time))
  }

  return {
    /**
     * Throws `invalid` above MAX_API_TOKENS, `conflict` for a name in use, `unauthenticated` when the session
     * has ended.
     */
    addApiToken: (token: ApiTokenToStore) => write(() => add(token), { grows: true }),
    listApiTokens,
    findByHash,
    noteUse,
    removeApiToken: (id: number) => write(() => run(REMOVE, id)),
  }
}

/** Adds a token from another server, under another name if this name is taken. Skips a hash that exists. */
export function* importToken(token: {
  accountId: number
  name: string
  hash: Uint8Array
  createdAt: number
}): Step<void> {
  if (yield* has(BY_HASH, token.hash)) return
  const taken = new Set((yield* all(OF_ACCOUNT, token.accountId)).map(({ name }) => name))
  let name = token.name
  for (let number = 2; taken.has(name); number += 1) name = `${token.name} ${number}`
  yield* insert({ ...token, name, prefix: '' })
}

function presentToken({ id, name, prefix, createdAt, lastUsedAt }: RowOf<typeof apiTokens>): ApiToken {
  return { id, name, prefix, createdAt, lastUsedAt }
}
