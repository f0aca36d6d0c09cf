// Changes the labels and limits of a push for its owner.

import type { Now } from '../../../domain/time.ts'
import { decideEditing, forward } from '../../../domain/visits.ts'
import type { Edited, EditToPush } from '../../face.ts'
import type { Session, Transact } from '../engine/database.ts'
import { addStep, changeOf } from './push-changes.ts'
import { lockPushes } from './push-rows.ts'
import { writeChanges } from './push-writes.ts'
import { presentPush, requireIntact } from './stored-push.ts'

export type PushEditingOptions = {
  transact: Transact
  now: Now
  /** The time by which something may be destroyed. */
  certain: Now
}

export function createPushEditing({ transact, now, certain }: PushEditingOptions) {
  function editPush({ id, ownerId, edit, labels, visit }: EditToPush): Promise<Edited | null> {
    return transact(async (session): Promise<Edited | null> => {
      const [before] = await lockPushes(session, [id])
      if (before === undefined || before.ownerId !== ownerId) return null
      requireIntact(before)
      const times = forward(before, { now: now(), certain: certain() })
      const isLabelled = Object.keys(labels).length > 0
      const decision = decideEditing(before, { edit, isLabelled, visit }, times)
      if (decision.outcome === 'refused') return decision
      if (isLabelled) await writeLabels(session, { id, labels })
      if (decision.step === null) return { outcome: 'edited', push: presentPush(before) }
      const change = changeOf(before)
      const push = addStep(change, decision.step)
      await writeChanges(session, [change], times)
      return { outcome: 'edited', push: presentPush(push) }
    })
  }

  return { editPush }
}

async function writeLabels(
  session: Session,
  { id, labels }: Pick<EditToPush, 'id' | 'labels'>,
): Promise<void> {
  const { name, note } = labels
  await session.query(
    `UPDATE push_labels SET name = CASE WHEN $2::boolean THEN $3::bytea ELSE name END,
       note = CASE WHEN $4::boolean THEN $5::bytea ELSE note END
     WHERE push_id = $1::bigint`,
    [id, name !== undefined, name ?? null, note !== undefined, note ?? null],
  )
}
