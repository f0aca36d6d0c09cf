// Changes the labels and limits of a push for its owner.

import { eq } from 'drizzle-orm'
import { decideEdit } from '../../../domain/editing.ts'
import { lapse } from '../../../domain/push.ts'
import type { Now } from '../../../domain/time.ts'
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
      const time = now()
      const lapsed = lapse(before, certain())
      const decision = decideEdit(lapsed, edit, time)
      if (decision.outcome === 'refused') return decision
      const isLabelled = Object.keys(labels).length > 0
      if (isLabelled) orm.update(pushLabels).set(labels).where(eq(pushLabels.pushId, id)).run()
      const isEdited = isLabelled || decision.push !== lapsed
      const after = isEdited ? { ...decision.push, updatedAt: time } : lapsed
      const entry = isEdited ? { kind: 'edit' as const, visit } : null
      return {
        outcome: 'edited',
        push: after === before ? before : rows.write({ before, after, now: time, entry }),
      }
    })
  }

  return { editPush }
}
