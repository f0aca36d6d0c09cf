// Stored pushes. Each operation is one atomic step, durable when its promise resolves.

import type { NewEntry, Visit } from '../../domain/audit.ts'
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
import { tell } from '../notices/events.ts'
import { enqueue } from '../notices/outbox.ts'
import type {
  Claim,
  ClaimResult,
  CodeTry,
  Edited,
  EditToPush,
  PlainClaim,
  PlainClaimed,
  PushToStore,
  SealedPush,
  StoredPush,
  Visited,
  VisitToPush,
} from '../pushes-contract.ts'
import { takeAnswer } from '../requests.ts'
import type { MailsOfPush, SealedMails } from '../sealed-contract.ts'
import { spendNonce, tryCode as takeCodeTry } from '../shared-state.ts'
import { statement } from '../statements.ts'
import { run, type Step, type Steps } from '../steps.ts'
import { addShare, takeRoom } from './address-shares.ts'
import { hasGranted } from './file-rows.ts'
import { useKey } from './idempotency-keys.ts'
import { findContent, findPush, lockLinked, lockPush, lockPushes, withFiles } from './push-locks.ts'
import { insertPush, write as writeChange } from './push-rows.ts'

const GROWS = { grows: true }

const SET_NAME = statement('UPDATE push_labels SET name = $2, names_recipient = $3 WHERE push_id = $1')
const SET_READ = statement(
  'UPDATE push_labels SET read_at = $2 WHERE push_id = $1 AND request IS NOT NULL AND read_at IS NULL',
)
const SET_NOTE = statement('UPDATE push_labels SET note = $2 WHERE push_id = $1')

export type PushesOptions = {
  steps: Steps
  now: Now
  /** Returns false while the disk has too little room for optional log entries. */
  hasRoom: () => boolean
}

/** `isByOwner`: the owner ended it, so its end is not new to them. */
type PushToExpire = VisitToPush & { isByOwner?: boolean }
type PushesToExpire = { ids: readonly number[]; ownerId: number; visit: Visit }

export function createPushes({ steps: { read, write, isRemote = false }, now, hasRoom }: PushesOptions) {
  const room = () => ({ hasRoom: hasRoom() })
  /** Returns the time for the next change of this push. Call it under the push's lock. */
  const timeOf = (push: StoredPush) => forward(push, now())

  function* create(asked: PushToStore): Step<StoredPush> {
    const { push, idempotency, share, visit } = asked
    const { createdAt } = push
    if (asked.answer !== null) yield* takeAnswer(asked.answer, { accountId: push.ownerId, now: createdAt })
    else if (push.ownerId !== null) yield* requireActive(push.ownerId, asked.ownerResets)
    if (share !== null) yield* takeRoom(share, createdAt)
    const entries: NewEntry[] = [{ kind: 'creation', at: createdAt, visit }]
    if (asked.mails.length > 0) entries.push({ kind: 'creation_email_send', at: createdAt, visit })
    const requestId = asked.answer?.requestId ?? null
    const stored = yield* insertPush(asked, { entries, seenViews: 0, hasRoom: hasRoom(), requestId })
    asked.requireOpen?.()
    if (share !== null) yield* addShare(share, stored)
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

  function* claim(asked: Claim): Step<ClaimResult | null> {
    const before = yield* lockPush(asked.id)
    if (before === null) return null
    return yield* claimLocked(before, asked)
  }

  /**
   * Claims a view of a locked push. For the owner it counts no view and uses up no nonce, but marks an answer
   * as read.
   */
  function* claimLocked(
    before: StoredPush,
    asked: Pick<Claim, 'visit' | 'lookBy' | 'nonce' | 'by'>,
  ): Step<ClaimResult> {
    const { outcome, change } = decideClaim(before, asked, timeOf(before))
    if (asked.nonce && change?.entry?.kind === 'view') yield* spendNonce(asked.nonce)
    const push = yield* writeChange(before, change, room())
    if (change?.entry?.kind === 'owner_view') yield* run(SET_READ, before.id, change.now)
    return { outcome, push }
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

  /** Resolves to the milliseconds for which no code is accepted; 0 if this code was checked. */
  function* tryCode({ id, isRight, visit }: CodeTry): Step<number | null> {
    const before = yield* lockPush(id)
    if (before === null) return null
    const now = timeOf(before)
    const lockedFor = yield* takeCodeTry({ pushId: id, isRight, now })
    const entry = { kind: 'failed_passphrase' as const, visit }
    if (!isRight && lockedFor === 0) yield* writeChange(before, { after: before, now, entry }, room())
    return lockedFor
  }

  function* mailLink(asked: VisitToPush & MailsOfPush): Step<Visited<'mailed' | 'ended'>> {
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

  function* expire({ id, ...by }: PushToExpire): Step<StoredPush | null> {
    const before = yield* lockPush(id)
    return before && (yield* end(before, by))
  }

  /** Ends a push. Returns it unchanged if it had ended before. */
  function* end(before: StoredPush, by: Omit<PushToExpire, 'id'>): Step<StoredPush> {
    const change = decideDeletion(before, { ...by, hasGrants: yield* findGrants(before) }, timeOf(before))
    return yield* writeChange(before, change, room())
  }

  function* expireSeveral({ ids, ownerId, visit }: PushesToExpire): Step<StoredPush[]> {
    const ended: StoredPush[] = []
    const by = { visit, isByOwner: true }
    for (const before of yield* lockPushes(ids)) {
      if (before.ownerId !== ownerId) continue
      const after = yield* end(before, by)
      if (after !== before) ended.push(after)
    }
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
    if (labels.name !== undefined) yield* run(SET_NAME, id, labels.name, labels.namesRecipient === true)
    if (labels.note !== undefined) yield* run(SET_NOTE, id, labels.note)
    return { outcome: 'edited', push: yield* writeChange(before, decision.change, room()) }
  }

  /** Returns whether a push exists, is live, and is not locked. */
  const isLive = (push: StoredPush | null) => push !== null && push.expiredOn === null && !isLocked(push)

  return {
    /**
     * Stores a push with all that belongs to it. Throws `unauthenticated` if its owner is disabled or was
     * reset, `too_many` if the creator's address has no room, and `conflict` if the idempotency key was used
     * meanwhile. Counts an answer to a request for a secret in the same step; throws `gone` if the request
     * accepts no more, and `not_found` if it was removed.
     */
    createPush: (push: PushToStore) => write(() => create(push), GROWS),
    findPush: (lookup: Uint8Array) => read(() => findPush(lookup), isLive),
    findSealedPush: (lookup: Uint8Array) =>
      read(
        () => findSealed(lookup),
        (found) => isLive(found?.push ?? null),
      ),
    /**
     * Counts a view, and expires the push if it was the last one. Never counts more views than the push
     * allows, whatever the number of callers. Audits `failed_view` for a push that has expired. Returns null
     * if there is no such push. Throws `conflict`, without effect, if the nonce is used up.
     */
    claimView: (asked: Claim) => write(() => claim(asked)),
    /**
     * Finds, opens and claims in one step, for a visit without a passphrase. `content` is null when the push
     * has expired. Audits a missing passphrase. Returns a live push with files unclaimed, because its files
     * must be checked before the claim.
     */
    claimPlain: <T>(asked: PlainClaim<T>) => write(() => claimPlain(asked)),
    /** Counts and audits a wrong code. Over the limit, refuses even a right one and writes nothing. */
    tryCode: (asked: CodeTry) => write(() => tryCode(asked)),
    /**
     * Audits and counts a wrong passphrase. `limited`: none is checked for now, and nothing was written. The
     * last of `maxTries` (0: no limit) expires or locks the push.
     */
    refusePassphrase: (asked: VisitToPush & { maxTries: number }) => write(() => refuse(asked)),
    /**
     * Deletes a push. If it has expired by its last view, ends its downloads. Leaves any other expired push
     * unchanged.
     */
    expirePush: (asked: PushToExpire) => write(() => expire(asked)),
    /**
     * Deletes several pushes of one owner in one step. Resolves to the number that had not expired, and adds
     * them to `told`.
     */
    expirePushes: async (which: PushesToExpire, told: StoredPush[] = []): Promise<number> => {
      const ended = await write(() => expireSeveral(which))
      told.push(...ended)
      return ended.length
    },
    /**
     * Changes labels and limits of a push as `decideEdit` decides, and audits the change. A refusal changes
     * nothing. Returns null if this owner has no such push.
     */
    editPush: (asked: EditToPush) => write(() => edit(asked), GROWS),
    /**
     * Adds mails with the link, and audits it. `ended`: the push has expired. Returns null when this owner
     * has no such push.
     */
    mailLink: (mailing: VisitToPush & MailsOfPush) => write(() => mailLink(mailing), GROWS),
    /** Unlocks a push. Does nothing if it is not locked or has expired. */
    unlockPush: (asked: VisitToPush) => write(() => unlock(asked), GROWS),
    /** Whether files of an expired push can still be downloaded. */
    hasGrants: (push: StoredPush) => read(() => findGrants(push), Boolean),
  }
}

/** Queues a mail, which is removed with the push, and sent once this transaction is durable. */
function* mail({ id, ownerId }: StoredPush, mails: SealedMails, at: number): Step<void> {
  for (const body of mails) yield* enqueue({ kind: 'link_mail', accountId: ownerId, pushId: id, at, body })
}
