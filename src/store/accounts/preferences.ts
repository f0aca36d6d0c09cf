// The preferences of accounts: the message for their secret links, and the last choices in the create form.

import { NO_CHOICES } from '../../domain/push-choices.ts'
import type { Preferences } from '../accounts-contract.ts'
import { addTo, select, statement } from '../statements.ts'
import { first, isThere, run, type Step, type Steps } from '../steps.ts'
import { preferences } from '../tables.ts'
import { lockAccount } from './accounts.ts'

const FIND = select(preferences, 'WHERE account_id = $1')
const REMOVE = statement('DELETE FROM preferences WHERE account_id = $1')
const add = addTo(preferences)

const NOTHING_CHOSEN: Preferences = {
  ...NO_CHOICES,
  ...{ template: null, askTemplate: null, recipient: null, mailEvents: null, mailLanguage: null },
}

/** Saves the given preferences, and keeps the others. */
export function* keepPreferences(accountId: number, changed: Partial<Preferences>): Step<void> {
  if ((yield* lockAccount(accountId)) === null) return
  const before = yield* first(FIND, accountId)
  yield* run(REMOVE, accountId)
  yield* add({ ...NOTHING_CHOSEN, ...before, ...changed, accountId })
}

export function createPreferences({ read, write }: Steps) {
  /** Returns null for an account that has chosen nothing. */
  async function find(id: number): Promise<Preferences | null> {
    const found = await read(() => first(FIND, id), isThere)
    if (found === null) return null
    const { accountId: _, ...chosen } = found
    return chosen
  }

  return {
    find,
    /** Saves the given preferences. Does nothing if the account was removed. */
    keep: ({ accountId, ...changed }: Partial<Preferences> & { accountId: number }) =>
      write(() => keepPreferences(accountId, changed), { grows: true }),
  }
}
