// Limits on tries of passwords, codes, one-time links and sign-ups. A try is counted before the work starts, and taken
// back if it succeeds or an overloaded server refuses it.

import { parseEmail } from '../../domain/account.ts'
import { DomainError, isDomainError, retrySeconds } from '../../domain/errors.ts'
import { MINUTE, type Now } from '../../domain/time.ts'
import { createTryBudget, type TryBudget } from './try-budget.ts'

const WINDOW = 15 * MINUTE
/** For one account from one address. Typing errors stay far below, and others are not locked out. */
const TRIES_OF_PAIR = 10
/** For one account from all addresses. At this rate a password of twelve characters cannot be guessed. */
const TRIES_OF_ACCOUNT = 100
/** From one address for all accounts. Wrong tries beyond it are refused as too many. */
const TRIES_OF_ADDRESS = 50
/** For each account beyond that limit, so that a neighbour behind the same address can still sign in. */
const OWN_TRIES_OF_PAIR = 3
/** From one address in any case, because each try costs the server time. */
const MOST_TRIES_OF_ADDRESS = 300
/** For the codes of one account, which are short. These callers already know the password. */
const TRIES_OF_CODE = 10
/** Sign-ups from one network address whose e-mail address is taken. */
const TAKEN_EMAILS = 10
/** Accounts created from one network address. */
const NEW_ACCOUNTS = 50
/** One-time links that do not exist, from one address. A valid link always works. */
const WRONG_LINKS = 30

export type Attempt<T> = { work: () => Promise<T>; isRight: (result: T) => boolean }

type Count = { budget: TryBudget; key: string }

export type SignInLimitOptions = {
  now: Now
  /** The key under which an address is counted; null for an address without limits. */
  clientOf: (address: string) => string | null
  /** Addresses with a session of this account. Guesses from elsewhere do not lock them out. */
  knownAddresses: (email: string) => Promise<string[]>
}

export type SignInLimit = ReturnType<typeof createSignInLimit>

/** Every function may throw `too_many` with the seconds to wait. */
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

  async function isKnown({ email, address }: From): Promise<boolean> {
    const from = clientOf(address)
    return (await knownAddresses(email)).some((known) => clientOf(known) === from)
  }

  /** A try is refused if one of `limits` is used up, and is counted in each of `counts`. */
  function budgetsOf(from: From, isKnown: boolean): { limits: Count[]; counts: Count[] } {
    const client = clientOf(from.address)
    const account = parseEmail(from.email) ?? 'none'
    const pair = { budget: pairs, key: `${client ?? 'here'} ${account}` }
    if (isKnown) return { limits: [pair], counts: [pair] }
    const always = [pair, { budget: accounts, key: account }]
    if (client === null) return { limits: always, counts: always }
    always.push({ budget: addressesInAll, key: client })
    const withAddress = [...always, { budget: addresses, key: client }]
    const hasOwnTries = pairs.spent(pair.key) < OWN_TRIES_OF_PAIR
    return { limits: hasOwnTries ? always : withAddress, counts: withAddress }
  }

  /** Does not count a refused try, so that nobody can use up the tries of others. */
  async function tryPassword<T>(from: From, attempt: Attempt<T>): Promise<T> {
    const { limits, counts } = budgetsOf(from, await isKnown(from))
    refuseSpent(limits)
    const client = clientOf(from.address) ?? 'none'
    const isBeyond = addresses.isSpent(client)
    const result = await countAttempt(counts, attempt)
    // Answer alike for every account, so that the answer does not reveal which accounts exist.
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

  /** `work` creates an account, or throws. */
  async function trySignUp<T>(address: string, work: () => Promise<T>): Promise<T> {
    const client = clientOf(address)
    const made: Count[] = client === null ? [] : [{ budget: newAccounts, key: client }]
    const taken: Count = { budget: takenEmails, key: client ?? 'here' }
    refuseSpent([...made, taken])
    // Count the sign-up even if it fails.
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

/** Throws `too_many` when one of the budgets is used up. Counts nothing. */
function refuseSpent(counts: Count[]): void {
  const spent = counts.find(({ budget, key }) => budget.isSpent(key))
  if (spent !== undefined) throw tooMany(spent.budget.wait(spent.key))
}

/** Counts before the work starts. Takes the count back if it succeeds or the server is overloaded. */
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
  const retryAfter = retrySeconds(wait)
  return new DomainError('too_many', `Too many tries: try again in ${retryAfter} s.`, { retryAfter })
}
