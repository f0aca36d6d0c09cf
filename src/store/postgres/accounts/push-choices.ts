// What accounts chose in the create form. Each exported operation is one atomic step.

import { eq } from 'drizzle-orm'
import type { PushChoices } from '../../../domain/push-choices.ts'
import type { PushChoiceStore } from '../../accounts-face.ts'
import type { Read, Transact } from '../engine/database.ts'
import { pushChoices } from '../schema/schema.ts'
import { lockAccount } from './account-rows.ts'

export function createPushChoices({ read, transact }: { read: Read; transact: Transact }): PushChoiceStore {
  async function findChoices(accountId: number): Promise<PushChoices | null> {
    const { lifetime, views, retrievalStep, deletableByViewer } = pushChoices
    const [found] = await read(({ orm }) =>
      orm
        .select({ lifetime, views, retrievalStep, deletableByViewer })
        .from(pushChoices)
        .where(eq(pushChoices.accountId, accountId)),
    )
    return found ?? null
  }

  const keepChoices: PushChoiceStore['keepChoices'] = ({ accountId, choices }) =>
    transact(async (session) => {
      if ((await lockAccount(session, accountId)) === undefined) return
      await session.orm
        .insert(pushChoices)
        .values({ accountId, ...choices })
        .onConflictDoUpdate({ target: pushChoices.accountId, set: choices })
    })

  return { findChoices, keepChoices }
}
