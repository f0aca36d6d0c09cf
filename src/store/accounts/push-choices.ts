// What accounts chose in the create form.

import type { PushChoices } from '../../domain/push-choices.ts'
import type { PushChoiceStore } from '../accounts-face.ts'
import { first, insert, insertInto, run, type Step, type Steps, select, statement } from '../steps.ts'
import { pushChoices } from '../tables.ts'
import { lockAccount } from './accounts.ts'

const FIND = select(pushChoices, 'WHERE account_id = $1')
const REMOVE = statement('DELETE FROM push_choices WHERE account_id = $1')
const INSERT = insertInto(pushChoices, [
  'accountId',
  'lifetime',
  'views',
  'retrievalStep',
  'deletableByViewer',
])

export function createPushChoices({ read, write }: Steps): PushChoiceStore {
  async function findChoices(accountId: number): Promise<PushChoices | null> {
    const found = await read(() => first(FIND, accountId))
    if (found === null) return null
    const { accountId: _, ...choices } = found
    return choices
  }

  function* keep({ accountId, choices }: { accountId: number; choices: PushChoices }): Step<void> {
    if ((yield* lockAccount(accountId)) === null) return
    yield* run(REMOVE, accountId)
    yield* insert(INSERT, { accountId, ...choices })
  }

  return { findChoices, keepChoices: (kept) => write(() => keep(kept)) }
}
