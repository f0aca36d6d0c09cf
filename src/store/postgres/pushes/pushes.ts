// Stored pushes. Each operation is one atomic step, durable when its promise resolves.

import { DamageError } from '../../../domain/errors.ts'
import { isExpired } from '../../../domain/push.ts'
import { forward } from '../../../domain/visits.ts'
import type { PlainClaim, PushStore, SealedPush, StoredPush, VisitToPush } from '../../face.ts'
import type { Session } from '../engine/database.ts'
import { changeOf, isChanged } from './push-changes.ts'
import { createPushCreation } from './push-creation.ts'
import { createPushEditing } from './push-editing.ts'
import { findById, findByLookup, lockPushes, readContent, readGranted } from './push-rows.ts'
import { createPushWorks, type PushWorksOptions } from './push-works.ts'
import { writeChanges } from './push-writes.ts'
import { presentPush } from './stored-push.ts'
import { claim, expirePush, refusePassphrase, unlockPush } from './visits.ts'

export type Pushes = PushStore & {
  /** Works that wait or are under way. */
  countWaiting(): number
  /** Resolves when none are left. */
  idle(): Promise<void>
}

export function createPushes(options: PushWorksOptions): Pushes {
  const { now, certain, onDue } = options
  const { read, transact } = options.database
  const works = createPushWorks(options)
  const creation = createPushCreation(options)

  function claimPlain<T>({ lookup, open, ...asked }: PlainClaim<T>) {
    return works.work({
      push: { lookup },
      visit: ({ change, secrets }, times) => {
        const push = change.after
        if (push.passphraseRequired || push.files > 0) return 'not_plain' as const
        const sealed = isExpired(push, times.now) ? null : { secrets: secrets(), files: [] }
        const content = sealed === null ? null : open({ push, sealed })
        return { ...claim(change, asked, times), content }
      },
    })
  }

  function expirePushes({ ids, ownerId, visit }: Parameters<PushStore['expirePushes']>[0]): Promise<number> {
    return transact(async (session) => {
      const own = (await lockPushes(session, ids)).filter((push) => push.ownerId === ownerId)
      const times = { now: now(), certain: certain() }
      const granted = await readGranted(session, { ids: own.map(({ id }) => id), now: times.now })
      const changes = own.map(changeOf)
      for (const change of changes)
        expirePush(change, { visit, isGranted: granted.has(change.before.id) }, forward(change.before, times))
      const changed = changes.filter(isChanged)
      await writeChanges(session, changed, times)
      return changed.length
    }).then((count) => {
      onDue()
      return count
    })
  }

  async function findPush(lookup: Uint8Array): Promise<StoredPush | null> {
    const row = await read((session) => findByLookup(session, lookup))
    return row === undefined ? null : presentPush(row)
  }

  function findSealedPush(lookup: Uint8Array): Promise<SealedPush | null> {
    return read(async (session) => {
      const row = await findByLookup(session, lookup)
      return row === undefined ? null : withContent(session, presentPush(row))
    })
  }

  async function withContent(session: Session, push: StoredPush): Promise<SealedPush | null> {
    if (isExpired(push, now())) return { push, sealed: null }
    const sealed = await readContent(session, push)
    if (sealed !== null) return { push, sealed }
    // It may have ended between these reads, or been purged.
    const later = await findById(session, push.id)
    if (later === undefined) return null
    if (later.expiredOn === null) throw new DamageError(`push ${push.id}`, 'server')
    return { push: presentPush(later), sealed: null }
  }

  async function hasGrants({ id, files, expiredOn }: StoredPush): Promise<boolean> {
    if (files === 0 || expiredOn === null) return false
    const granted = await read((session) => readGranted(session, { ids: [id], now: now() }))
    return granted.has(id)
  }

  return {
    createPush: creation.createPush,
    findPush,
    findSealedPush,
    claimView: ({ id, ...asked }) =>
      works.work({ push: { id }, visit: ({ change }, times) => claim(change, asked, times) }),
    claimPlain,
    refusePassphrase: ({ id, ...asked }) =>
      works.work({ push: { id }, visit: ({ change }, times) => refusePassphrase(change, asked, times) }),
    expirePush: ({ id, visit }: VisitToPush) =>
      works.work({
        push: { id },
        asksForGrants: true,
        visit: ({ change, isGranted }, times) => expirePush(change, { visit, isGranted }, times),
      }),
    expirePushes,
    ...createPushEditing({ transact, now, certain }),
    unlockPush: ({ id, visit }) =>
      works.work({ push: { id }, visit: ({ change }, times) => unlockPush(change, visit, times) }),
    hasGrants,
    countWaiting: () => works.count() + creation.count(),
    idle: async () => {
      await works.idle()
      await creation.idle()
    },
  }
}
