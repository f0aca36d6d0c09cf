// API tokens: creating and revoking them for an account, and authenticating requests with them.

import { apiTokenPrefix, hashToken, newApiToken } from '../crypto/tokens.ts'
import { type ApiToken, tokenNameProblem } from '../domain/account.ts'
import { DomainError, invalidFields } from '../domain/errors.ts'
import type { Authenticated } from '../store/accounts-contract.ts'
import type { Store } from '../store/contract.ts'
import type { Accounts } from './accounts.ts'

export { mentionsApiToken } from '../crypto/tokens.ts'
export type { Authenticated } from '../store/accounts-contract.ts'

export type ApiTokens = ReturnType<typeof createApiTokens>

type NamedToken = Pick<ApiToken, 'id' | 'name' | 'prefix'>

type NewToken = { email: string; name?: string; session?: number }

export type NewApiToken = { apiToken: string; name: string; prefix: string }

type Options = {
  apiTokens: Store['apiTokens']
  accounts: Pick<Accounts, 'requireAccount'>
  /** Whether the tokens of this account are paused because its owner has not signed in for long. */
  isPaused?: (found: Authenticated) => boolean
}

export function createApiTokens({ apiTokens, accounts, isPaused = () => false }: Options) {
  /**
   * Returns the token, which is shown only this once. The default name is the next free `token-N`. Throws
   * `unauthenticated` when `session`, in which it is created, has ended.
   */
  async function createApiToken(input: NewToken): Promise<NewApiToken> {
    const { id: accountId } = await accounts.requireAccount(input.email)
    const name = input.name?.trim() ?? nextName(await apiTokens.listApiTokens(accountId))
    const problem = tokenNameProblem(name)
    if (problem !== null) throw invalidFields({ name: [problem] })
    const { session = null } = input
    const apiToken = newApiToken()
    const prefix = apiTokenPrefix(apiToken)
    await apiTokens.addApiToken({ accountId, name, prefix, hash: hashToken(apiToken), session })
    return { apiToken, name, prefix }
  }

  async function listApiTokens(email: string): Promise<ApiToken[]> {
    return apiTokens.listApiTokens((await accounts.requireAccount(email)).id)
  }

  /** Throws `not_found` when no token matches, `conflict` when several do. */
  async function revokeApiToken(input: { email: string; nameOrPrefix: string }): Promise<NamedToken> {
    const { id: accountId } = await accounts.requireAccount(input.email)
    const token = pick(await apiTokens.listApiTokens(accountId), input.nameOrPrefix)
    await apiTokens.removeApiToken(token.id)
    return token
  }

  /** Revokes a token of this account by its id. Ignores the ids of other accounts' tokens and unknown ids. */
  async function revokeOwn({ email, id }: { email: string; id: number }): Promise<void> {
    if ((await listApiTokens(email)).some((token) => token.id === id)) await apiTokens.removeApiToken(id)
  }

  /**
   * Resolves to a token and its account; null for an unknown token or a disabled account. Records the use.
   * Throws `unauthenticated` for a paused token.
   */
  async function authenticate(
    apiToken: string,
    onError: (cause: unknown) => void,
  ): Promise<Authenticated | null> {
    const found = await apiTokens.findByHash(hashToken(apiToken))
    if (found !== null && isPaused(found)) throw new DomainError('unauthenticated', 'token-paused')
    if (found !== null) apiTokens.noteUse(found).catch(onError)
    return found
  }

  return { createApiToken, listApiTokens, revokeApiToken, revokeOwn, authenticate }
}

/** Picks a token by its name or prefix. An exact name wins. */
function pick(tokens: NamedToken[], nameOrPrefix: string): NamedToken {
  const named = tokens.find(({ name }) => name === nameOrPrefix)
  const fitting = named ? [named] : tokens.filter(({ prefix }) => isPrefix(prefix, nameOrPrefix))
  const [token] = fitting
  if (token === undefined)
    throw new DomainError('not_found', `This account has no API token "${nameOrPrefix}".`)
  if (fitting.length > 1) {
    const names = fitting.map(({ name, prefix }) => `${name} (${prefix})`).join(', ')
    throw new DomainError(
      'conflict',
      `"${nameOrPrefix}" matches several API tokens: ${names}. None was revoked.`,
    )
  }
  return token
}

/**
 * Accepts a pasted token, which is longer than the stored prefix, or a typed part of the prefix beyond
 * `obx_`. Imported tokens have no prefix.
 */
function isPrefix(prefix: string, typed: string): boolean {
  if (prefix === '') return false
  return typed.startsWith(prefix) || (typed.length > 4 && prefix.startsWith(typed))
}

function nextName(tokens: NamedToken[]): string {
  const taken = new Set(tokens.map(({ name }) => name))
  let number = tokens.length + 1
  while (taken.has(`token-${number}`)) number += 1
  return `token-${number}`
}
