// How many mails an account, and the whole server, may send in an hour, over all nodes.

import { DomainError, rethrowWithoutDoubt, retrySeconds } from '../domain/errors.ts'
import { HOUR, MINUTE, type Now } from '../domain/time.ts'
import type { Budget, BudgetState, BudgetStore } from '../store/shared-face.ts'

const OF_ACCOUNT = 100
/** Strangers who open a link again and again do not keep its owner from sending others. */
const OF_EVENTS = 50
const OF_SERVER = 1_000

export type MailLimit = ReturnType<typeof createMailLimit>

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
