// Deletes several pushes of one owner in one transaction.

import type { Now } from '../../../domain/time.ts'
import { forward } from '../../../domain/visits.ts'
import type { PushStore } from '../../face.ts'
import type { Session, Transact } from '../engine/database.ts'
import { changeOf, isChanged } from './push-changes.ts'
import { lockPushes, readGranted } from './push-rows.ts'
import { writeChanges } from './push-writes.ts'
import { mend } from './stored-push.ts'
import { expirePush } from './visits.ts'

export type ExpireSeveralOptions = {
  transact: Transact
  now: Now
  /** The time by which something may be destroyed. */
  certain: Now
  /** Called after a commit that made files due. */
  onDue: () => void
}

type Asked = Parameters<PushStore['expirePushes']>[0]

export function createExpireSeveral(options: ExpireSeveralOptions): PushStore['expirePushes'] {
  const { transact, now, certain, onDue } = options

  async function expireAll(session: Session, { ids, ownerId, visit }: Asked): Promise<number> {
    const own = (await lockPushes(session, ids)).filter((push) => push.ownerId === ownerId)
    const times = { now: now(), certain: certain() }
    const granted = await readGranted(session, { ids: own.map(({ id }) => id), now: times.now })
    const changes = own.map(changeOf)
    for (const change of changes) {
      change.after = mend(change.before, { now: times.certain, hasLapsed: false })
      expirePush(change, { visit, isGranted: granted.has(change.before.id) }, forward(change.after, times))
    }
    const changed = changes.filter(isChanged)
    await writeChanges(session, changed, times)
    return changed.length
  }

  return async (asked) => {
    const count = await transact((session) => expireAll(session, asked))
    onDue()
    return count
  }
}
