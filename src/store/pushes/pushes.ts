// Stored pushes. Each operation is one atomic step, durable when its promise resolves.

import type { NewEntry } from '../../domain/audit.ts'
import { DamageError } from '../../domain/errors.ts'
import { isExpired, isLocked } from '../../domain/push.ts'
import type { Now } from '../../domain/time.ts'
import {
  decideClaim,
  decideDeletion,
  decideEditing,
  decideLastTry,
  decideMailing,
  decideRefusal,
  decideUnlock,
  forward,
} from '../../domain/visits.ts'
import { requireActive } from '../accounts/accounts.ts'
import type {
  Claim,
  Claimed,
  Edited,
  EditToPush,
  PlainClaim,
  PlainClaimed,
  PushStore,
  PushToStore,
  SealedPush,
  StoredPush,
  Visited,
  VisitToPush,
} from '../contract.ts'
import { tell } from '../notices/events.ts'
import { enqueue } from '../notices/outbox.ts'
import { takeAnswer } from '../requests.ts'
import type { Mailing, SealedMails } from '../sealed-contract.ts'
import { spendNonce } from '../shared-state.ts'
import { statement } from '../statements.ts'
import { run, type Step, type Steps } from '../steps.ts'
import { requireRoom, takeShare } from './address-shares.ts'
import { hasGranted } from './file-rows.ts'
import { useKey } from './idempotency-keys.ts'
import { findContent, findPush, lockLinked, lockPush, lockPushes, withFiles } from './push-locks.ts'
import { insertPush, write as writeChange } from './push-rows.ts'

const GROWS = { grows: true }

const SET_NAME = statement('UPDATE push_labels SET name = $2 WHERE push_id = $1')
const SET_NOTE = statement('UPDATE push_labels SET note = $2 WHERE push_id = $1')

export type PushesOptions = {
  steps: Steps
  now: Now
  /** False while the disk has too little room for entries of logs that may be left out. */
  hasRoom: () => boolean
}

export function createPushes({
  steps: { read, write, isRemote = false },
  now,
  hasRoom,
}: PushesOptions): PushStore {
  const room = () => ({ hasRoom: hasRoom() })
  /** When the next thing happens to this push, read under its lock. */
  const timeOf = (push: StoredPush) => forward(push, now())

  function* create(asked: PushToStore): Step<StoredPush> {
    const { push, idempotency, share, visit } = asked
    const { createdAt } = push
    if (asked.answer !== null) yield* takeAnswer(asked.answer, { accountId: push.ownerId, now: createdAt })
    else if (push.ownerId !== null) yield* requireActive(push.ownerId, asked.ownerResets)
    if (share !== null) yield* requireRoom(share, createdAt)
    const entries: NewEntry[] = [{ kind: 'creation', at: createdAt, visit }]
    if (asked.mails.length > 0) entries.push({ kind: 'creation_email_send', at: createdAt, visit })
    const stored = yield* insertPush(asked, { entries, seenViews: 0, hasRoom: hasRoom() })
    if (share !== null) yield* takeShare(share, stored)
    if (idempotency !== null) yield* useKey(idempotency, { pushId: stored.id, now: createdAt })
    if (asked.mails.length > 0) yield* mail(stored, asked.mails, createdAt)
    if (asked.answer !== null) yield* tell(stored, ['request.answered'], createdAt)
    return stored
  }

  function* findSealed(lookup: Uint8Array): Step<SealedPush | null> {
    const push = yield* findPush(lookup)
    if (push === null || isExpired(push, now())) return push && { push, sealed: null }
    const sealed = yield* findContent(push)
    const later = sealed === null ? yield* findPush(lookup) : push
    return later && { push: later, sealed }
  }

  function* claim(asked: Claim): Step<Claimed | null> {
    const before = yield* lockPush(asked.id)
    if (before === null) return null
    return yield* claimLocked(before, asked)
  }

  /** An owner's look is no view, and spends no nonce. */
  function* claimLocked(before: StoredPush, asked: Pick<Claim, 'visit' | 'lookBy' | 'nonce'>): Step<Claimed> {
    const { outcome, change } = decideClaim(before, asked, timeOf(before))
    if (asked.nonce && change?.entry?.kind === 'view') yield* spendNonce(asked.nonce)
    return { outcome, push: yield* writeChange(before, change, room()) }
  }

  function* claimPlain<T>(asked: PlainClaim<T>): Step<PlainClaimed<T> | null> {
    const found = yield* lockLinked(asked.lookup, isRemote)
    if (found === null) return null
    const { push: before, secrets } = found
    const time = timeOf(before)
    const isOver = isExpired(before, time)
    if (!isOver && before.passphraseRequired) {
      const { change } = decideRefusal(before, { ...asked, wrong: false }, time)
      return { outcome: 'passphrase_required', push: yield* writeChange(before, change, room()) }
    }
    if (!isOver && before.files > 0) {
      const sealed = yield* withFiles(before, secrets)
      return sealed && { outcome: 'has_files', push: before, sealed }
    }
    if (!isOver && secrets === null) throw new DamageError(`push ${before.id}`)
    const content =
      secrets === null || isOver ? null : asked.open({ push: before, sealed: { secrets, files: [] } })
    return { ...(yield* claimLocked(before, asked)), content }
  }

  function* refuse({
    id,
    ...asked
  }: VisitToPush & { maxTries: number }): Step<Visited<'refused' | 'expired' | 'limited'>> {
    const before = yield* lockPush(id)
    if (before === null) return null
    const time = timeOf(before)
    const { outcome, change } = decideRefusal(before, { ...asked, wrong: true }, time)
    const refused = yield* writeChange(before, change, room())
    const last = outcome !== 'refused' ? null : decideLastTry(refused, asked, time)
    return { outcome, push: yield* writeChange(refused, last, room()) }
  }

  function* mailLink(asked: VisitToPush & Mailing): Step<Visited<'mailed' | 'ended'>> {
    const before = yield* lockPush(asked.id)
    if (before === null || before.ownerId !== asked.ownerId) return null
    const time = timeOf(before)
    const change = decideMailing(before, asked.visit, time)
    if (change === null) return { outcome: 'ended', push: before }
    const push = yield* writeChange(before, change, room())
    yield* mail(push, asked.mails, time)
    return { outcome: 'mailed', push }
  }

  function* unlock({ id, visit }: VisitToPush): Step<StoredPush | null> {
    const before = yield* lockPush(id)
    const change = before && decideUnlock(before, visit, timeOf(before))
    return before && (yield* writeChange(before, change, room()))
  }

  function* expire({ id, visit }: VisitToPush): Step<StoredPush | null> {
    const before = yield* lockPush(id)
    return before && (yield* end(before, visit))
  }

  /** Returns the same push when there was nothing to end. */
  function* end(before: StoredPush, visit: VisitToPush['visit']): Step<StoredPush> {
    const change = decideDeletion(before, { visit, hasGrants: yield* findGrants(before) }, timeOf(before))
    return yield* writeChange(before, change, room())
  }

  function* expireSeveral({ ids, ownerId, visit }: Parameters<PushStore['expirePushes']>[0]): Step<number> {
    let ended = 0
    for (const before of yield* lockPushes(ids))
      if (before.ownerId === ownerId && (yield* end(before, visit)) !== before) ended += 1
    return ended
  }

  function* findGrants({ id, files, expiredOn }: StoredPush): Step<boolean> {
    return files > 0 && expiredOn !== null && (yield* hasGranted(id, now()))
  }

  function* edit({ id, ownerId, edit: limits, labels, visit }: EditToPush): Step<Edited | null> {
    const before = yield* lockPush(id)
    if (before === null || before.ownerId !== ownerId) return null
    const isLabelled = Object.keys(labels).length > 0
    const decision = decideEditing(before, { edit: limits, isLabelled, visit }, timeOf(before))
    if (decision.outcome === 'refused') return decision
    if (labels.name !== undefined) yield* run(SET_NAME, id, labels.name)
    if (labels.note !== undefined) yield* run(SET_NOTE, id, labels.note)
    return { outcome: 'edited', push: yield* writeChange(before, decision.change, room()) }
  }

  /** Neither gone nor ended nor locked for its reader. */
  const isLive = (push: StoredPush | null) => push !== null && push.expiredOn === null && !isLocked(push)

  return {
    createPush: (push) => write(() => create(push), GROWS),
    findPush: (lookup) => read(() => findPush(lookup), isLive),
    findSealedPush: (lookup) =>
      read(
        () => findSealed(lookup),
        (found) => isLive(found?.push ?? null),
      ),
    claimView: (asked) => write(() => claim(asked)),
    claimPlain: (asked) => write(() => claimPlain(asked)),
    refusePassphrase: (asked) => write(() => refuse(asked)),
    expirePush: (asked) => write(() => expire(asked)),
    expirePushes: (which) => write(() => expireSeveral(which)),
    editPush: (asked) => write(() => edit(asked), GROWS),
    mailLink: (mailing) => write(() => mailLink(mailing), GROWS),
    unlockPush: (asked) => write(() => unlock(asked), GROWS),
    hasGrants: (push) => read(() => findGrants(push), Boolean),
  }
}

/** Goes with the push, and is sent once this transaction is durable. */
function* mail({ id, ownerId }: StoredPush, mails: SealedMails, at: number): Step<void> {
  for (const body of mails) yield* enqueue({ kind: 'link_mail', accountId: ownerId, pushId: id, at, body })
}
