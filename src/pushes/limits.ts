// Limits of addresses and accounts: guesses of short tokens, the address that a new push counts against, and
// the numbers of mails and tests of webhooks.

import { hashAddress } from '../crypto/digest.ts'
import type { Keyring } from '../crypto/keyring.ts'
import { isShortUrlToken } from '../crypto/url-token.ts'
import type { Account } from '../domain/account.ts'
import type { Viewer, Visit } from '../domain/audit.ts'
import type { ClientOf } from '../domain/client.ts'
import { DomainError, isOutage, rethrowWithoutDoubt, retrySeconds, tooMany } from '../domain/errors.ts'
import type { ShareLimits, ShareToTake } from '../domain/shares.ts'
import { DAY, formatTime, HOUR, MINUTE, type Now } from '../domain/time.ts'
import type { SharedState } from '../store/contract.ts'
import type { Budget, BudgetState } from '../store/shared-contract.ts'

type SharesOptions = { keyring: Keyring; limits: ShareLimits; clientOf: ClientOf }

/**
 * Returns the share that a new push takes; null for a push that is not counted. `bytes` comes from
 * `shareBytes`.
 */
export type ShareOf = (viewer: Viewer, bytes: number) => ShareToTake | null

/** Counts an anonymous push against its sender's address; loopback and accounts are exempt. */
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

/**
 * Lookups of missing short links by one address on one node. Loopback is limited too, because behind an
 * undeclared proxy all viewers come from it.
 */
const MISSES_A_MINUTE = 60

export type ShortTokens = ReturnType<typeof createShortTokens>

/**
 * Limits guesses of short tokens, which only imported pushes have. Their 55 bits could be guessed without a
 * limit.
 */
export function createShortTokens({ now, clientOf }: { now: Now; clientOf: ClientOf }) {
  /** Misses by client, in the order of `until`, which is a minute after the client's first miss. */
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

  /** Throws `too_many`, even for tokens that exist: any other answer would reveal them. */
  function requireTries(urlToken: string, visit: Visit): void {
    if (!isShortUrlToken(urlToken)) return
    const { count, until } = missesOf(visit)
    if (count < MISSES_A_MINUTE) return
    throw tooMany('Too many links from this address that do not exist', until - now())
  }

  /** Throws like `requireTries` when this miss exceeds the limit. */
  function countMiss(urlToken: string, visit: Visit): void {
    requireTries(urlToken, visit)
    if (!isShortUrlToken(urlToken)) return
    const { count, until } = missesOf(visit)
    misses.set(keyOf(visit), { count: count + 1, until })
  }

  return { requireTries, countMiss }
}

/** Mails an hour of one account. */
const OF_ACCOUNT = 100
/** Mails to one recipient from all accounts. */
const OF_RECIPIENT = 30
/** Mails from one address, which could otherwise use up all mails with many accounts. */
const OF_ADDRESS = 200
/**
 * The limit for all accounts younger than a day together, if --signups is on, because one address may create
 * many. The rest is reserved for older accounts.
 */
const OF_NEW_ACCOUNTS = 400
/**
 * The limit for the event mails of one account. It is lower than for other mails, so that viewers who reopen
 * a link cannot keep its owner from sending mail.
 */
const OF_EVENTS = 50
const OF_ALL_EVENTS = 500
const OF_SERVER = 1_000
/**
 * The limit for mails other than password resets, to which the rest is reserved. Half of the rest is for
 * accounts older than a day.
 */
const BESIDE_RESETS = 800
const OF_NEW_RESETS = 100

/**
 * Creates a function that counts against all budgets or none. `refusedBy`: the budget that is used up; null
 * if it counted.
 */
function createCount(budgets: SharedState['budgets']) {
  const refuse = (states: readonly BudgetState[]) =>
    states.find(({ spent, tries, cost = 1 }) => spent + cost > tries) ?? null
  return (counts: readonly Budget[]) => budgets.take({ counts, refuse }).catch(rethrowWithoutDoubt)
}

type Sender = Pick<Account, 'id' | 'createdAt' | 'isAdmin'>
/** `address`: where the request came from. */
type Mails = { account: Sender; address: string | null; recipients: readonly string[] }

export type MailLimit = ReturnType<typeof createMailLimit>
type MailLimitOptions = {
  budgets: SharedState['budgets']
  now: Now
  clientOf: ClientOf
  /** Whether accounts can sign up by themselves. */
  hasSignUps: boolean
}

/** Limits the mails an hour of an account, a recipient, an address and the whole server, over all nodes. */
export function createMailLimit({ budgets, now, clientOf, hasSignUps }: MailLimitOptions) {
  const budget = (name: string, tries: number, cost = 1) => ({ name, tries, cost, window: HOUR })
  const ofServer = (tries: number, cost?: number) => budget('mails', tries, cost)
  const ofNewAccounts = (cost?: number) => budget('mails of new accounts', OF_NEW_ACCOUNTS, cost)
  const ofNew = ({ createdAt, isAdmin }: Sender, own: Budget) =>
    hasSignUps && !isAdmin && now() - createdAt < DAY ? [own] : []

  const count = createCount(budgets)

  /** Runs `keep`. Takes the count back if it fails, unless the outcome is unknown. */
  async function countWhile<T>(counts: readonly Budget[], keep: () => Promise<T>): Promise<T> {
    const { refusedBy, states } = await count(counts)
    if (refusedBy !== null) throw refusal(refusedBy)
    try {
      return await keep()
    } catch (cause) {
      if (!(isOutage(cause) && cause.details.isInDoubt === true)) await budgets.giveBack(states)
      throw cause
    }
  }

  function refusal(refusedBy: BudgetState): DomainError {
    const wait = refusedBy.until - now()
    const message = `Too many mails in this hour (at most ${refusedBy.tries}): try again in ${Math.ceil(wait / MINUTE)} min.`
    return new DomainError('too_many_mails', message, { retryAfter: retrySeconds(wait) })
  }

  /**
   * Counts the mails of an account, then stores them with `keep`. Throws `too_many_mails` if not all of them
   * fit.
   */
  function take<T>({ account, address, recipients }: Mails, keep: () => Promise<T>): Promise<T> {
    const mails = recipients.length
    const client = address === null ? null : clientOf(address)
    const counts = [
      budget(`mails of account ${account.id}`, OF_ACCOUNT, mails),
      ...[...new Set(recipients.map((to) => to.toLowerCase()))].map((to) =>
        budget(`mails to ${to}`, OF_RECIPIENT),
      ),
      ...(client === null ? [] : [budget(`mails from ${client}`, OF_ADDRESS, mails)]),
      ...[...ofNew(account, ofNewAccounts(mails)), ofServer(BESIDE_RESETS, mails)],
    ]
    return countWhile(counts, keep)
  }

  /** Counts a mail for a password reset. Throws as `take` does. */
  const takeReset = <T>(account: Sender, keep: () => Promise<T>) => {
    const ofNewResets = budget('resets of new accounts', OF_NEW_RESETS)
    return countWhile([...ofNew(account, ofNewResets), ofServer(OF_SERVER)], keep)
  }

  /** Counts one event mail. Resolves to whether the account may still get it. */
  async function takeEvent(account: Sender): Promise<boolean> {
    const own = budget(`event mails of account ${account.id}`, OF_EVENTS)
    const all = budget('event mails', OF_ALL_EVENTS)
    const ofNewAccount = ofNew(account, ofNewAccounts())
    const { refusedBy } = await count([own, all, ...ofNewAccount, ofServer(BESIDE_RESETS)])
    return refusedBy === null
  }

  /** Resolves to a sentence that names the mails that are refused now; null when none are. */
  async function findShortage(): Promise<string | null> {
    const looks = [ofServer(OF_SERVER), ofServer(BESIDE_RESETS), ofNewAccounts()]
    const { states } = await budgets.take({ counts: [], looks, refuse: ([first]) => first ?? null })
    const at = states.findIndex(({ spent, tries }) => spent >= tries)
    const state = states[at]
    return state === undefined
      ? null
      : `${REFUSED[at]} until ${formatTime(state.until)}: ${state.spent} were sent in this hour.`
  }

  return { take, takeReset, takeEvent, findShortage }
}

const REFUSED = [
  'No mail is taken, not even a link for a new password,',
  'No mail but links for a new password is taken',
  'No mail of accounts younger than a day is taken',
]

const TESTS_OF_OWNER = 10
const TESTS_OF_SERVER = 100

export type TestLimit = ReturnType<typeof createTestLimit>

/** Limits the tests of webhooks and mail of one owner in a minute, over all nodes. Throws `too_many`. */
export function createTestLimit({ budgets, now }: { budgets: SharedState['budgets']; now: Now }) {
  const count = createCount(budgets)
  return async (owner: number | null): Promise<void> => {
    const counts = [
      { name: `tests of ${owner ?? 'administrators'}`, tries: TESTS_OF_OWNER, window: MINUTE },
      { name: 'tests', tries: TESTS_OF_SERVER, window: MINUTE },
    ]
    const { refusedBy } = await count(counts)
    if (refusedBy !== null) throw tooMany('Too many tests', refusedBy.until - now())
  }
}
