// What happens to the pushes of an account that goes: they are removed in steps, or become anonymous.

import { inArray } from 'drizzle-orm'
import type { OwnedPushes } from '../../accounts/accounts.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { pushes, pushLabels } from '../engine/schema.ts'
import { isOwnedBy } from './push-checksum.ts'
import type { PushRemoval, RemovalStep } from './push-removal.ts'
import type { PushRows } from './push-rows.ts'

const STEP = 100
/** Milliseconds that removing pushes may keep requests waiting at a time. */
const STEP_MS = 10

export function createOwnedPushes(options: {
  connection: Connection
  transact: Transact
  rows: Pick<PushRows, 'disown'>
  removal: PushRemoval
}): OwnedPushes {
  const { transact, rows, removal } = options
  const { orm } = options.connection

  async function removeSome(ownerId: number): Promise<number> {
    for (;;) {
      const steps = await transact(() => removeStepsOf(ownerId))
      const broken = steps.filter(({ step }) => step === 'broken').map(({ pushId }) => pushId)
      await removal.removeThoroughly(broken)
      const removed = steps.filter(({ step }) => step !== 'shortened').length
      if (removed > 0 || steps.length === 0) return removed
    }
  }

  /** Within a transaction: as many as the time of a step allows. */
  function removeStepsOf(ownerId: number) {
    const deadline = performance.now() + STEP_MS
    const steps: { pushId: number; step: RemovalStep }[] = []
    for (const push of orm.select().from(pushes).where(isOwnedBy(ownerId)).limit(STEP).all()) {
      steps.push({ pushId: push.id, step: removal.removeStep(push) })
      if (performance.now() > deadline) break
    }
    return steps
  }

  // biome-ignore lint/correctness/useYield: the statements run at once
  function* disown(ownerId: number) {
    const owned = orm.select({ id: pushes.id }).from(pushes).where(isOwnedBy(ownerId))
    orm.delete(pushLabels).where(inArray(pushLabels.pushId, owned)).run()
    rows.disown(ownerId)
  }

  return { removeSome, disown }
}
