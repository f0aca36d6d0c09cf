// What accounts have chosen: the message for their secret links, and what they filled into the create form last.

import type { PushChoices } from '../../domain/push-choices.ts'
import type { PreferenceStore } from '../accounts-face.ts'
import { addTo, select, statement } from '../statements.ts'
import { first, run, type Step, type Steps } from '../steps.ts'
import { messageTemplates, pushChoices } from '../tables.ts'
import { lockAccount } from './accounts.ts'

const FIND_TEMPLATE = select(messageTemplates, 'WHERE account_id = $1')
const REMOVE_TEMPLATE = statement('DELETE FROM message_templates WHERE account_id = $1')
const addTemplate = addTo(messageTemplates)

const FIND_CHOICES = select(pushChoices, 'WHERE account_id = $1')
const REMOVE_CHOICES = statement('DELETE FROM push_choices WHERE account_id = $1')
const addChoices = addTo(pushChoices)

export function createPreferences({ read, write }: Steps): PreferenceStore {
  function* keepTemplate({ accountId, template }: Kept<{ template: string | null }>): Step<void> {
    if ((yield* lockAccount(accountId)) === null) return
    yield* run(REMOVE_TEMPLATE, accountId)
    if (template !== null) yield* addTemplate({ accountId, template })
  }

  async function findChoices(accountId: number): Promise<PushChoices | null> {
    const found = await read(() => first(FIND_CHOICES, accountId))
    if (found === null) return null
    const { accountId: _, ...choices } = found
    return choices
  }

  function* keepChoices({ accountId, choices }: Kept<{ choices: PushChoices }>): Step<void> {
    if ((yield* lockAccount(accountId)) === null) return
    yield* run(REMOVE_CHOICES, accountId)
    yield* addChoices({ accountId, ...choices })
  }

  return {
    findTemplate: async (accountId) => (await read(() => first(FIND_TEMPLATE, accountId)))?.template ?? null,
    keepTemplate: (kept) => write(() => keepTemplate(kept)),
    findChoices,
    keepChoices: (kept) => write(() => keepChoices(kept)),
  }
}

type Kept<What> = What & { accountId: number }
