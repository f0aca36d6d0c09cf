// How many mails an account, and the whole server, may send in an hour, over all nodes.

import { DomainError, rethrowWithoutDoubt, retrySeconds } from '../domain/errors.ts'
import { HOUR, type Now } from '../domain/time.ts'
import type { Budget, BudgetState, BudgetStore } from '../store/shared-face.ts'

const OF_ACCOUNT = 100
const OF_SERVER = 1_000

export type MailLimit = ReturnType<typeof createMailLimit>

export function createMailLimit({ budgets, now }: { budgets: BudgetStore; now: Now }) {
  /** Counts them before they are sent. Throws `too_many` when one of the budgets has no room for all of them. */
  return async (accountId: number, mails: number): Promise<void> => {
    const window = HOUR
    const counts: Budget[] = [
      { name: `mails of account ${accountId}`, tries: OF_ACCOUNT, window, cost: mails },
      { name: 'mails', tries: OF_SERVER, window, cost: mails },
    ]
    const refuse = (states: readonly BudgetState[]) =>
      states.find(({ spent, tries }) => spent + mails > tries) ?? null
    const { refusedBy } = await budgets.take({ counts, refuse }).catch(rethrowWithoutDoubt)
    if (refusedBy === null) return
    const minutes = Math.ceil((refusedBy.until - now()) / (HOUR / 60))
    const message = `Too many mails in this hour (at most ${refusedBy.tries}): try again in ${minutes} min.`
    throw new DomainError('too_many', message, { retryAfter: retrySeconds(refusedBy.until - now()) })
  }
}
