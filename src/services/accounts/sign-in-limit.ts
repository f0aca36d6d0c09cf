// How often somebody may try passwords, codes, one-time links and addresses: counted before the answer, given back for
// what succeeded, and for what an overloaded server did not do.

import { parseEmail } from '../../domain/account.ts'
import { DomainError, isDomainError } from '../../domain/errors.ts'
import { MINUTE, type Now } from '../../domain/time.ts'
import { createTryBudget, type TryBudget } from './try-budget.ts'

const WINDOW = 15 * MINUTE
/** At one account from one address: who mistypes stays far below, and locks nobody else out. */
const TRIES_OF_PAIR = 10
/** At one account from everywhere: a password of twelve characters outlives this rate by ages. */
const TRIES_OF_ACCOUNT = 100
/** From one address, for whatever accounts. Wrong tries beyond it are told to be too many. */
const TRIES_OF_ADDRESS = 50
/** At each account beyond that: the right password of a neighbour behind the same address still works. */
const OWN_TRIES_OF_PAIR = 3
/** From one address in any case, because each costs the server some time. */
const MOST_TRIES_OF_ADDRESS = 300
/** At the codes of one account, which are short: whoever is here knows the password. */
const TRIES_OF_CODE = 10
/** E-mail addresses that turn out to be taken, asked from one network address. */
const TAKEN_EMAILS = 10
/** Accounts that one network address makes. */
const NEW_ACCOUNTS = 50
/** One-time links that do not exist. A right one always works. */
const WRONG_LINKS = 30

export type Attempt<T> = { work: () => Promise<T>; isRight: (result: T) => boolean }

type Count = { budget: TryBudget; key: string }

export type SignInLimitOptions = {
  now: Now
  /** What an address is counted as; null for one without limits. */
  clientOf: (address: string) => string | null
  /** Where people are signed in to this account: guesses from elsewhere do not lock them out. */
  knownAddresses: (email: string) => string[]
}

export type SignInLimit = ReturnType<typeof createSignInLimit>

/** Every function throws `too_many`, with the seconds to wait. */
export function createSignInLimit({ now, clientOf, knownAddresses }: SignInLimitOptions) {
  const budgetOf = (tries: number) => createTryBudget({ tries, window: WINDOW, now })
  const pairs = budgetOf(TRIES_OF_PAIR)
  const accounts = budgetOf(TRIES_OF_ACCOUNT)
  const addresses = budgetOf(TRIES_OF_ADDRESS)
  const addressesInAll = budgetOf(MOST_TRIES_OF_ADDRESS)
  const codes = budgetOf(TRIES_OF_CODE)
  const takenEmails = budgetOf(TAKEN_EMAILS)
  const newAccounts = budgetOf(NEW_ACCOUNTS)
  const wrongLinks = budgetOf(WRONG_LINKS)

  type From = { email: string; address: string }

  function isKnown({ email, address }: From): boolean {
    const from = clientOf(address)
    return knownAddresses(email).some((known) => clientOf(known) === from)
  }

  /** `limits` refuse a try when one of them is spent; `counts` are spent by it. */
  function budgetsOf(from: From): { limits: Count[]; counts: Count[] } {
    const client = clientOf(from.address)
    const account = parseEmail(from.email) ?? 'none'
    const pair = { budget: pairs, key: `${client ?? 'here'} ${account}` }
    if (isKnown(from)) return { limits: [pair], counts: [pair] }
    const always = [pair, { budget: accounts, key: account }]
    if (client === null) return { limits: always, counts: always }
    always.push({ budget: addressesInAll, key: client })
    const withAddress = [...always, { budget: addresses, key: client }]
    const hasOwnTries = pairs.spent(pair.key) < OWN_TRIES_OF_PAIR
    return { limits: hasOwnTries ? always : withAddress, counts: withAddress }
  }

  /** A try that is refused is not counted, so that nobody can spend the tries of others with it. */
  async function tryPassword<T>(from: From, attempt: Attempt<T>): Promise<T> {
    const { limits, counts } = budgetsOf(from)
    refuseSpent(limits)
    const client = clientOf(from.address) ?? 'none'
    const isBeyond = addresses.isSpent(client)
    const result = await countAttempt(counts, attempt)
    // The same answer for every account, so that it does not tell which of them exist.
    if (isBeyond && !attempt.isRight(result)) throw tooMany(addresses.wait(client))
    return result
  }

  /** Null when the link is wrong. */
  function tryLink<T>(address: string, link: T | null): T | null {
    if (link !== null) return link
    const count = { budget: wrongLinks, key: clientOf(address) ?? 'here' }
    refuseSpent([count])
    count.budget.spend(count.key)
    return null
  }

  /** `work` makes an account, and throws when it cannot. */
  async function trySignUp<T>(address: string, work: () => Promise<T>): Promise<T> {
    const client = clientOf(address)
    const made: Count[] = client === null ? [] : [{ budget: newAccounts, key: client }]
    const taken: Count = { budget: takenEmails, key: client ?? 'here' }
    refuseSpent([...made, taken])
    // How many accounts an address makes is counted whatever comes of them.
    for (const { budget, key } of made) budget.spend(key)
    return countAttempt([taken], { work, isRight: () => true })
  }

  return {
    tryPassword,
    tryCode: <T>(accountId: number, attempt: Attempt<T>): Promise<T> =>
      limitAttempt([{ budget: codes, key: String(accountId) }], attempt),
    tryLink,
    trySignUp,
  }
}

/** Throws `too_many`, and counts nothing, when one of the budgets is spent. */
function refuseSpent(counts: Count[]): void {
  const spent = counts.find(({ budget, key }) => budget.isSpent(key))
  if (spent !== undefined) throw tooMany(spent.budget.wait(spent.key))
}

/** Counts before the work begins, and takes that back when it succeeds or is not done. */
async function countAttempt<T>(counts: Count[], { work, isRight }: Attempt<T>): Promise<T> {
  const takeBacks = counts.map(({ budget, key }) => budget.spend(key))
  const giveBack = () => {
    for (const takeBack of takeBacks) takeBack()
  }
  try {
    const result = await work()
    if (isRight(result)) giveBack()
    return result
  } catch (cause) {
    if (isDomainError(cause, 'overloaded')) giveBack()
    throw cause
  }
}

async function limitAttempt<T>(counts: Count[], attempt: Attempt<T>): Promise<T> {
  refuseSpent(counts)
  return countAttempt(counts, attempt)
}

function tooMany(wait: number): DomainError {
  const retryAfter = Math.min(60, Math.max(1, Math.ceil(wait / 1000)))
  return new DomainError('too_many', `Too many tries: try again in ${retryAfter} s.`, { retryAfter })
}
