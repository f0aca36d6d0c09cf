// Limits on tries of passwords, codes, one-time links and sign-ups, over all nodes. A try is counted before
// the work starts, and given back if it succeeds or the store is away.

import { parseEmail } from '../domain/account.ts'
import { isOutage, rethrowWithoutDoubt, tooMany } from '../domain/errors.ts'
import { MINUTE, type Now } from '../domain/time.ts'
import type { SharedState, Store } from '../store/contract.ts'
import type { Budget, BudgetState } from '../store/shared-contract.ts'

const WINDOW = 15 * MINUTE

const budgetOf = (kind: string, tries: number) => (key: string) => ({
  name: `${kind} ${key}`,
  tries,
  window: WINDOW,
})

/**
 * Wrong tries for one account from one address. Well above the number of typing errors; people at other
 * addresses are not locked out.
 */
const ofPair = budgetOf('pair', 10)
/**
 * Wrong tries for one account from all addresses. At this rate a password of twelve characters cannot be
 * guessed.
 */
const ofAccount = budgetOf('account', 100)
/** Wrong tries from one address for all accounts. */
const ofAddress = budgetOf('address', 50)
/** Tries per account beyond that limit, so that another client behind the same address can still sign in. */
const OWN_TRIES_OF_PAIR = 3
/** All tries from one address, because each costs the server time. */
const ofAddressInAll = budgetOf('address in all', 300)
/** Wrong codes for one account. Codes are short, but these callers already know the password. */
const ofCodes = budgetOf('codes', 10)
/** Sign-ups from one network address whose e-mail address is taken. */
const ofTakenEmails = budgetOf('taken e-mails', 10)
/** Accounts created from one network address. */
const ofNewAccounts = budgetOf('new accounts', 50)
/** Unknown one-time links from one address. A valid link always works. */
const ofWrongLinks = budgetOf('wrong links', 30)
/** Wrong passkeys from one address. A right one always works. */
const ofWrongPasskeys = budgetOf('wrong passkeys', 10)

/** Reset links requested from one network address. */
const ofResets = budgetOf('resets', 20)
/** Reset links for one account. The last one stays valid, so others cannot keep the owner from a link. */
const ofResetsOfAccount = budgetOf('resets of account', 3)

type Attempt<T> = { work: () => Promise<T>; isRight: (result: T) => boolean }

type SignInLimitOptions = {
  budgets: SharedState['budgets']
  now: Now
  /** Returns the key under which an address is counted; null for an address without limits. */
  clientOf: (address: string) => string | null
  /**
   * Resolves to the addresses with a session of this account, which guesses from elsewhere do not lock out.
   */
  knownAddresses: (email: string) => Promise<string[]>
}

/** Resolves to the addresses of an account's current sessions, by its e-mail address. */
export function createKnownAddresses({ accounts, sessions }: Pick<Store, 'accounts' | 'sessions'>) {
  return async (email: string): Promise<string[]> => {
    const parsed = parseEmail(email)
    const account = parsed === null ? null : await accounts.findAccount(parsed)
    return account === null ? [] : (await sessions.listSessions(account.id)).map(({ ip }) => ip)
  }
}

export type SignInLimit = ReturnType<typeof createSignInLimit>

/** Makes the limits. Every function may throw `too_many` with the seconds to wait. */
export function createSignInLimit({ budgets, now, clientOf, knownAddresses }: SignInLimitOptions) {
  type From = { email: string; address: string }

  async function isKnown({ email, address }: From): Promise<boolean> {
    const from = clientOf(address)
    return (await knownAddresses(email)).some((known) => clientOf(known) === from)
  }

  /**
   * Returns the budgets of a try. `address`: the budget of the network address; null if it is exempt. A known
   * address is checked against that budget, but not counted.
   */
  function budgetsOf(from: From, isKnown: boolean) {
    const client = clientOf(from.address)
    const account = parseEmail(from.email) ?? 'none'
    const pair = ofPair(`${client ?? 'here'} ${account}`)
    const address = client === null ? null : ofAddress(client)
    const addressed = address === null ? [] : [address]
    if (isKnown) return { address, counts: [pair], looks: addressed }
    const inAll = client === null ? [] : [ofAddressInAll(client)]
    return { address, counts: [pair, ofAccount(account), ...inAll, ...addressed], looks: [] }
  }

  const take: SharedState['budgets']['take'] = (attempt) => budgets.take(attempt).catch(rethrowWithoutDoubt)

  /**
   * Runs a try of a password. A refused try is not counted, so an attacker cannot use up the tries of others.
   */
  async function tryPassword<T>(from: From, attempt: Attempt<T>): Promise<T> {
    const { address, counts, looks } = budgetsOf(from, await isKnown(from))
    const isOfAddress = ({ name }: Budget) => name === address?.name
    const refuse = (states: readonly BudgetState[]) => {
      const [pair] = states
      const hasOwnTries = looks.length > 0 || (pair?.spent ?? 0) < OWN_TRIES_OF_PAIR
      return findSpent(hasOwnTries ? states.filter((state) => !isOfAddress(state)) : states)
    }
    const { refusedBy, states } = await take({ counts, looks, refuse })
    if (refusedBy !== null) throw refusal(refusedBy)
    const result = await countAttempt(states.slice(0, counts.length), attempt)
    const beyond = states.find((state) => isOfAddress(state) && isSpent(state))
    // Answer alike for every account, so that the answer does not reveal which accounts exist.
    if (beyond !== undefined && !attempt.isRight(result)) throw refusal(beyond)
    return result
  }

  /** Returns the link. Counts a miss, which is null. */
  async function tryLink<T>(address: string, link: T | null): Promise<T | null> {
    if (link === null) await count([ofWrongLinks(clientOf(address) ?? 'here')])
    return link
  }

  /**
   * Runs a try of a passkey, and counts a wrong one. A signature cannot be guessed, so a right one is
   * accepted after any number of wrong tries.
   */
  async function tryPasskey<T>(address: string, { work, isRight }: Attempt<T>): Promise<T> {
    const countWrong = () => count([ofWrongPasskeys(clientOf(address) ?? 'here')])
    const result = await work().catch(async (cause) => {
      if (!isOutage(cause)) await countWrong()
      throw cause
    })
    if (!isRight(result)) await countWrong()
    return result
  }

  /** Runs a sign-up. `work` creates the account, or throws. */
  async function trySignUp<T>(address: string, work: () => Promise<T>): Promise<T> {
    const client = clientOf(address)
    const taken = ofTakenEmails(client ?? 'here')
    const states = await count(client === null ? [taken] : [ofNewAccounts(client), taken])
    // Count the sign-up against the second budget even if it fails.
    return countAttempt(states.slice(-1), { work, isRight: () => true })
  }

  /** Whether a link may be sent now. Counts addresses without an account, too. */
  async function tryReset({ email, address }: From): Promise<boolean> {
    const client = clientOf(address)
    if (client !== null) await count([ofResets(client)])
    const counts = [ofResetsOfAccount(parseEmail(email) ?? 'none')]
    return (await take({ counts, refuse: findSpent })).refusedBy === null
  }

  async function tryCode<T>(accountId: number, attempt: Attempt<T>): Promise<T> {
    return countAttempt(await count([ofCodes(String(accountId))]), attempt)
  }

  /** Counts a try, unless one of the budgets is used up. */
  async function count(counts: Budget[]): Promise<readonly BudgetState[]> {
    const { refusedBy, states } = await take({ counts, refuse: findSpent })
    if (refusedBy !== null) throw refusal(refusedBy)
    return states
  }

  /** Gives the try back if the work succeeds, or if the store is away, so that it can be retried. */
  async function countAttempt<T>(counted: readonly BudgetState[], { work, isRight }: Attempt<T>): Promise<T> {
    try {
      const result = await work()
      if (isRight(result)) await budgets.giveBack(counted)
      return result
    } catch (cause) {
      if (isOutage(cause)) await budgets.giveBack(counted)
      throw cause
    }
  }

  const refusal = ({ until }: BudgetState) => tooMany('Too many tries', until - now())

  return { tryPassword, tryPasskey, tryCode, tryLink, trySignUp, tryReset }
}

const isSpent = ({ spent, tries }: BudgetState) => spent >= tries

function findSpent(states: readonly BudgetState[]): BudgetState | null {
  return states.find(isSpent) ?? null
}
