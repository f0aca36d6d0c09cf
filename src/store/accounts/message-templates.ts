// The messages of accounts for their secret links.

import type { MessageTemplateStore } from '../accounts-face.ts'
import { first, insert, insertInto, run, type Step, type Steps, select, statement } from '../steps.ts'
import { messageTemplates } from '../tables.ts'
import { lockAccount } from './accounts.ts'

const FIND = select(messageTemplates, 'WHERE account_id = $1')
const REMOVE = statement('DELETE FROM message_templates WHERE account_id = $1')
const INSERT = insertInto(messageTemplates, ['accountId', 'template'])

export function createMessageTemplates({ read, write }: Steps): MessageTemplateStore {
  function* keep({ accountId, template }: { accountId: number; template: string | null }): Step<void> {
    const account = yield* lockAccount(accountId)
    yield* run(REMOVE, accountId)
    if (template !== null && account !== null) yield* insert(INSERT, { accountId, template })
  }

  return {
    findTemplate: async (accountId) => (await read(() => first(FIND, accountId)))?.template ?? null,
    keepTemplate: (kept) => write(() => keep(kept)),
  }
}
