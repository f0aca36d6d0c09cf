// What limits addresses and accounts: how many short tokens an address may guess, which address a new push counts against, and how many
// mails an account may send.

import { hashAddress } from '../crypto/digest.ts'
import type { Keyring } from '../crypto/keyring.ts'
import { isShortUrlToken } from '../crypto/url-token.ts'
import type { Viewer, Visit } from '../domain/audit.ts'
import type { ClientOf } from '../domain/client.ts'
import { DomainError, rethrowWithoutDoubt, retrySeconds, tooMany } from '../domain/errors.ts'
import type { ShareLimits, ShareToTake } from '../domain/shares.ts'
import { HOUR, MINUTE, type Now } from '../domain/time.ts'
import type { Budget, BudgetState, BudgetStore } from '../store/shared-face.ts'

type SharesOptions = { keyring: Keyring; limits: ShareLimits; clientOf: ClientOf }

/** Null for a push that is not counted; `bytes` are those of `shareBytes`. */
export type ShareOf = (viewer: Viewer, bytes: number) => ShareToTake | null

/** Which address a new push counts against: the sender's if they have no account, and none for loopback. */
export function createShareOf({ keyring, limits, clientOf }: SharesOptions): ShareOf {
  const isUnlimited = limits.pushes === 0 && limits.bytes === 0
  const others = keyring.keys.filter((key) => key !== keyring.sealing)

  return ({ account, visit }, bytes) => {
    const client = account === null && !isUnlimited ? clientOf(visit.ip) : null
    if (client === null) return null
    const hashOf = (key: Keyring['sealing']) => hashAddress(client, key.addresses)
    return { addresses: [hashOf(keyring.sealing), ...others.map(hashOf)], bytes, limits }
  }
}

/** For one address on one node. Loopback is limited too, because everybody comes from it behind an undeclared proxy. */
const MISSES_A_MINUTE = 60

export type ShortTokens = ReturnType<typeof createShortTokens>

/** Limits guesses of short tokens. Only imported pushes have them; their 55 bits could be found without a limit. */
export function createShortTokens({ now, clientOf }: { now: Now; clientOf: ClientOf }) {
  /** By client, ordered by `until`, the end of the minute that begins with a client's first miss. */
  const misses = new Map<string, { count: number; until: number }>()
  const keyOf = ({ ip }: Visit) => clientOf(ip) ?? 'loopback'

  function missesOf(visit: Visit) {
    const time = now()
    for (const [key, { until }] of misses) {
      if (until > time) break
      misses.delete(key)
    }
    return misses.get(keyOf(visit)) ?? { count: 0, until: time + MINUTE }
  }

  /** Throws `too_many`, also for tokens that exist, because any other answer would show that they do. */
  function requireTries(urlToken: string, visit: Visit): void {
    if (!isShortUrlToken(urlToken)) return
    const { count, until } = missesOf(visit)
    if (count < MISSES_A_MINUTE) return
    throw tooMany('Too many links from this address that do not exist', until - now())
  }

  /** Throws as `requireTries` does when this miss exceeds the limit. */
  function countMiss(urlToken: string, visit: Visit): void {
    requireTries(urlToken, visit)
    if (!isShortUrlToken(urlToken)) return
    const { count, until } = missesOf(visit)
    misses.set(keyOf(visit), { count: count + 1, until })
  }

  return { requireTries, countMiss }
}

/** Mails in an hour. */
const OF_ACCOUNT = 100
/** Strangers who open a link again and again do not keep its owner from sending others. */
const OF_EVENTS = 50
const OF_SERVER = 1_000

export type MailLimit = ReturnType<typeof createMailLimit>

/** How many mails an account, and the whole server, may send in an hour, over all nodes. */
export function createMailLimit({ budgets, now }: { budgets: BudgetStore; now: Now }) {
  /** The budget that has no room for all of them; null when they were counted. */
  async function count(own: Pick<Budget, 'name' | 'tries'>, mails: number): Promise<BudgetState | null> {
    const counts = [own, { name: 'mails', tries: OF_SERVER }].map((budget) => ({
      ...budget,
      ...{ window: HOUR, cost: mails },
    }))
    const refuse = (states: readonly BudgetState[]) =>
      states.find(({ spent, tries }) => spent + mails > tries) ?? null
    return (await budgets.take({ counts, refuse }).catch(rethrowWithoutDoubt)).refusedBy
  }

  /** Counts mails that an account sends. Throws `too_many` when there is no room for all of them. */
  async function take(accountId: number, mails: number): Promise<void> {
    const refusedBy = await count({ name: `mails of account ${accountId}`, tries: OF_ACCOUNT }, mails)
    if (refusedBy === null) return
    const wait = refusedBy.until - now()
    const message = `Too many mails in this hour (at most ${refusedBy.tries}): try again in ${Math.ceil(wait / MINUTE)} min.`
    throw new DomainError('too_many', message, { retryAfter: retrySeconds(wait) })
  }

  /** Whether an account may be told of one more event now. */
  async function takeEvent(accountId: number): Promise<boolean> {
    return (await count({ name: `event mails of account ${accountId}`, tries: OF_EVENTS }, 1)) === null
  }

  return { take, takeEvent }
}
