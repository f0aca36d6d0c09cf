// The messages of accounts for their secret links. Each exported operation is one atomic step.

import { eq } from 'drizzle-orm'
import type { MessageTemplateStore } from '../../accounts-face.ts'
import type { Read, Transact } from '../engine/database.ts'
import { messageTemplates } from '../schema/schema.ts'
import { lockAccount } from './account-rows.ts'

export function createMessageTemplates(options: { read: Read; transact: Transact }): MessageTemplateStore {
  const { read, transact } = options

  async function findTemplate(accountId: number): Promise<string | null> {
    const { template } = messageTemplates
    const ofAccount = eq(messageTemplates.accountId, accountId)
    const [found] = await read(({ orm }) => orm.select({ template }).from(messageTemplates).where(ofAccount))
    return found?.template ?? null
  }

  const keepTemplate: MessageTemplateStore['keepTemplate'] = ({ accountId, template }) =>
    transact(async (session) => {
      const account = await lockAccount(session, accountId)
      await session.orm.delete(messageTemplates).where(eq(messageTemplates.accountId, accountId))
      if (template === null || account === undefined) return
      await session.orm.insert(messageTemplates).values({ accountId, template })
    })

  return { findTemplate, keepTemplate }
}
