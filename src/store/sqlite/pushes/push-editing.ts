// Changes the labels and limits of a push for its owner.

import { eq } from 'drizzle-orm'
import type { Now } from '../../../domain/time.ts'
import { decideEditing } from '../../../domain/visits.ts'
import type { Edited, EditToPush } from '../../face.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { pushLabels } from '../engine/schema.ts'
import type { PushRows } from './push-rows.ts'

export type PushEditingOptions = {
  connection: Connection
  rows: Pick<PushRows, 'findById' | 'write'>
  transact: Transact
  now: Now
  /** The time by which something may be destroyed. */
  certain: Now
}

export function createPushEditing(options: PushEditingOptions) {
  const { rows, transact, now, certain } = options
  const { orm } = options.connection

  function editPush({ id, ownerId, edit, labels, visit }: EditToPush): Promise<Edited | null> {
    return transact((): Edited | null => {
      const before = rows.findById(id)
      if (before === undefined || before.ownerId !== ownerId) return null
      const times = { now: now(), certain: certain() }
      const isLabelled = Object.keys(labels).length > 0
      const decision = decideEditing(before, { edit, isLabelled, visit }, times)
      if (decision.outcome === 'refused') return decision
      if (isLabelled) orm.update(pushLabels).set(labels).where(eq(pushLabels.pushId, id)).run()
      return { outcome: 'edited', push: decision.step === null ? before : rows.write(before, decision.step) }
    })
  }

  return { editPush }
}
