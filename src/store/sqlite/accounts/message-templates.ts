// The messages of accounts for their secret links. Each exported operation is one atomic step.

import { eq } from 'drizzle-orm'
import type { MessageTemplateStore } from '../../accounts-face.ts'
import type { Damage } from '../../every-engine/damage.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { accounts, messageTemplates } from '../engine/schema.ts'
import { checksumOf, requireIntactRow } from '../integrity/row-checksum.ts'

export function createMessageTemplates(options: {
  connection: Connection
  transact: Transact
  damage: Pick<Damage, 'presentIntact'>
}): MessageTemplateStore {
  const { transact, damage } = options
  const { orm } = options.connection

  async function findTemplate(accountId: number): Promise<string | null> {
    const rows = orm.select().from(messageTemplates).where(eq(messageTemplates.accountId, accountId)).all()
    return damage.presentIntact(rows, presentTemplate)[0] ?? null
  }

  const keepTemplate: MessageTemplateStore['keepTemplate'] = ({ accountId, template }) =>
    transact(() => {
      orm.delete(messageTemplates).where(eq(messageTemplates.accountId, accountId)).run()
      const account = orm.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)).get()
      if (template === null || account === undefined) return
      const checksum = checksumOfTemplate({ accountId, template })
      orm.insert(messageTemplates).values({ accountId, template, checksum }).run()
    })

  return { findTemplate, keepTemplate }
}

/** Throws when the row was altered on disk. */
export function presentTemplate(row: typeof messageTemplates.$inferSelect): string {
  const { accountId, template } = row
  requireIntactRow(row, checksumOfTemplate(row), `the row of the message of account ${accountId}`)
  return template
}

function checksumOfTemplate({ accountId, template }: { accountId: number; template: string }): number {
  return checksumOf([accountId, template])
}
