// What accounts chose in the create form. Each exported operation is one atomic step.

import { eq } from 'drizzle-orm'
import type { PushChoices } from '../../../domain/push-choices.ts'
import type { PushChoiceStore } from '../../accounts-face.ts'
import type { Damage } from '../../every-engine/damage.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { accounts, pushChoices } from '../engine/schema.ts'
import { checksumOf, requireIntactRow } from '../integrity/row-checksum.ts'

export function createPushChoices(options: {
  connection: Connection
  transact: Transact
  damage: Pick<Damage, 'presentIntact'>
}): PushChoiceStore {
  const { transact, damage } = options
  const { orm } = options.connection

  async function findChoices(accountId: number): Promise<PushChoices | null> {
    const rows = orm.select().from(pushChoices).where(eq(pushChoices.accountId, accountId)).all()
    return damage.presentIntact(rows, presentChoices)[0] ?? null
  }

  function keepChoices({ accountId, choices }: { accountId: number; choices: PushChoices }): Promise<void> {
    return transact(() => {
      const account = orm.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)).get()
      if (account === undefined) return
      const set = { ...choices, checksum: checksumOfChoices({ accountId, ...choices }) }
      orm
        .insert(pushChoices)
        .values({ accountId, ...set })
        .onConflictDoUpdate({ target: pushChoices.accountId, set })
        .run()
    })
  }

  return { findChoices, keepChoices }
}

type ChoicesRow = typeof pushChoices.$inferSelect

/** Throws when the row was altered on disk. */
export function presentChoices(row: ChoicesRow): PushChoices {
  requireIntactRow(row, checksumOfChoices(row), `the row of choices of account ${row.accountId}`)
  const { lifetime, views, retrievalStep, deletableByViewer } = row
  return { lifetime, views, retrievalStep, deletableByViewer }
}

function checksumOfChoices(row: Omit<ChoicesRow, 'checksum'>): number {
  const { accountId, lifetime, views, retrievalStep, deletableByViewer } = row
  return checksumOf([accountId, lifetime, views, retrievalStep, deletableByViewer])
}
