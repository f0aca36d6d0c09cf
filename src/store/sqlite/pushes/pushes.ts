// Pushes as they are kept. Each exported operation is one atomic step, durable when its promise resolves.

import { eq, sql } from 'drizzle-orm'
import type { SealedSecrets } from '../../../crypto/push-secrets.ts'
import type { Visit } from '../../../domain/audit.ts'
import { DamageError, DomainError } from '../../../domain/errors.ts'
import {
  countWrongTry,
  decideView,
  expireByHand,
  isExpired,
  isLastTry,
  isLocked,
  lapse,
  type Push,
  spendTries,
  unlock,
} from '../../../domain/push.ts'
import type { Now } from '../../../domain/time.ts'
import type { Files } from '../../files/files.ts'
import { presentAccount } from '../accounts/account-rows.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { accounts } from '../engine/schema.ts'
import type { AddressShares, ShareToTake } from './address-shares.ts'
import type { FileRows } from './file-rows.ts'
import type { IdempotencyRows, KeyToStore } from './idempotency-keys.ts'
import type { PushRow, PushRows } from './push-rows.ts'

export type StoredPush = PushRow

/** A file that lies sealed in the store; name and type are sealed under the push's data key. */
export type SealedFile = { fileId: string; size: number; filename: Uint8Array; contentType: Uint8Array }

/** `isThere`: on the disk, as long as it was sealed. */
export type LivePush = {
  push: StoredPush
  secrets: SealedSecrets
  files: (SealedFile & { isThere: boolean })[]
}

export type SealedLabels = { urlToken: Uint8Array; name: Uint8Array | null; note: Uint8Array | null }

export type PushToStore = {
  push: Push
  lookup: Buffer
  keyNumber: number
  secrets: SealedSecrets
  /** What the owner will see in lists; null for an anonymous push. */
  labels: SealedLabels | null
  files: SealedFile[]
  /** The key that repeats the answer; null without one. */
  idempotency: KeyToStore | null
  /** Counted against the creator's address; null when it is not. */
  share: ShareToTake | null
  visit: Visit
}

export type Claim<T> = {
  lookup: Uint8Array
  visit: Visit
  /** Asked while the push is live, before anything is counted. Null leaves it as it is, and so does what this throws. */
  open: (push: LivePush) => Opened<T> | null
}

export type Opened<T> = { content: T; isOwnLook: boolean }

export type Claimed<T> =
  /** The owner's own look is written down and not counted. */
  { outcome: 'view'; push: StoredPush; content: T } | { outcome: 'closed' | 'expired'; push: StoredPush }

/** What a visit came to; null instead of it when the push was purged meanwhile. */
export type Visited<Outcome> = { outcome: Outcome; push: StoredPush } | null

export type VisitToPush = { id: number; visit: Visit }

const GROWS = { grows: true }

export type Pushes = ReturnType<typeof createPushes>

export function createPushes(options: {
  connection: Connection
  rows: PushRows
  shares: AddressShares
  files: FileRows
  fileFolder: Pick<Files, 'hasFile'>
  idempotency: Pick<IdempotencyRows, 'insert'>
  transact: Transact
  now: Now
}) {
  const { rows, shares, files, fileFolder, idempotency, transact, now } = options
  const { orm } = options.connection
  const ownerById = orm
    .select()
    .from(accounts)
    .where(eq(accounts.id, sql.placeholder('id')))
    .prepare()

  function createPush({
    push,
    lookup,
    keyNumber,
    secrets,
    labels,
    files: sealed,
    idempotency: key,
    share,
    visit,
  }: PushToStore): Promise<StoredPush> {
    return transact(() => {
      if (push.ownerId !== null) requireActive(push.ownerId)
      if (share !== null) shares.requireRoom(share, push.createdAt)
      const row = rows.insert({ ...push, lookup, keyNumber, files: sealed.length }, secrets, visit)
      if (share !== null) shares.take(share, row)
      if (labels !== null) rows.insertLabels({ pushId: row.id, ...labels })
      files.attach(sealed.map((file, n) => ({ pushId: row.id, n, ...file })))
      if (key !== null) idempotency.insert(key, { pushId: row.id, now: push.createdAt })
      return row
    }, GROWS)
  }

  /** With what opens it; that is null once it has expired. */
  function findSealedPush(lookup: Uint8Array): { push: StoredPush; secrets: SealedSecrets | null } | null {
    const push = rows.findByLookup(lookup)
    return push === undefined ? null : { push, secrets: rows.findSecrets(push.id) }
  }

  /**
   * Finds a push, has it opened and counts the view, in one step: claim first, release after. Null when there is none.
   * What has run out of time is written down as expired.
   */
  function claimView<T>({ lookup, visit, open }: Claim<T>): Promise<Claimed<T> | null> {
    return transact(() => {
      const before = rows.findByLookup(lookup)
      if (before === undefined) return null
      const time = now()
      const { outcome, push: after } = decideView(before, time)
      if (outcome === 'expired') {
        const entry = { kind: 'failed_view' as const, visit }
        return { outcome, push: rows.write({ before, after, now: time, entry }) }
      }
      const opened = open({ push: before, ...readSealed(before) })
      if (opened === null) return { outcome: 'closed' as const, push: before }
      const { content, isOwnLook } = opened
      const entry = { kind: isOwnLook ? ('owner_view' as const) : ('view' as const), visit }
      const push = rows.write({ before, after: isOwnLook ? before : after, now: time, entry })
      return { outcome, push, content }
    })
  }

  function readSealed(push: StoredPush): Omit<LivePush, 'push'> {
    const secrets = rows.findSecrets(push.id)
    const sealedFiles = push.files === 0 ? [] : files.listOfPush(push.id)
    if (secrets === null || sealedFiles.length !== push.files) throw new DamageError(`push ${push.id}`)
    return { secrets, files: sealedFiles.map((file) => ({ ...file, isThere: fileFolder.hasFile(file) })) }
  }

  /**
   * A missing passphrase is audited; a wrong one is also a try, which counts against the push. The last of `maxTries`
   * expires or locks it in the same step; 0 allows any number.
   */
  function refusePassphrase(
    options: VisitToPush & { wrong: boolean; maxTries: number },
  ): Promise<Visited<'refused' | 'expired'>> {
    const { id, visit, wrong, maxTries } = options
    return transact(() => {
      const before = rows.findById(id)
      if (before === undefined) return null
      const time = now()
      if (isExpired(before, time)) {
        const push = rows.write({
          before,
          after: lapse(before, time),
          now: time,
          entry: { kind: 'failed_view', visit },
        })
        return { outcome: 'expired' as const, push }
      }
      const after = wrong ? countWrongTry(before, time) : before
      const tried = rows.write({ before, after, now: time, entry: { kind: 'failed_passphrase', visit } })
      const isLast = wrong && isLastTry(tried, maxTries)
      return { outcome: 'refused' as const, push: isLast ? spend(tried, { time, visit }) : tried }
    })
  }

  /** Within a transaction. */
  function spend(before: StoredPush, { time, visit }: { time: number; visit: Visit }): StoredPush {
    const after = spendTries(before, time)
    const kind = after.expiredOn === null ? ('lock' as const) : ('expire' as const)
    return rows.write({ before, after, now: time, entry: { kind, visit } })
  }

  /** What is not locked, or has expired, stays as it is. */
  function unlockPush({ id, visit }: VisitToPush): Promise<StoredPush | null> {
    return transact(() => {
      const before = rows.findById(id)
      if (before === undefined) return null
      const time = now()
      if (!isLocked(before) || isExpired(before, time)) return before
      return rows.write({ before, after: unlock(before, time), now: time, entry: { kind: 'unlock', visit } })
    })
  }

  /**
   * Expires a push because somebody who may asked for it, and ends the grants of a last view. What has expired otherwise
   * stays as it is.
   */
  function expirePush({ id, visit }: VisitToPush): Promise<StoredPush | null> {
    return transact(() => {
      const before = rows.findById(id)
      if (before === undefined) return null
      const time = now()
      const after = expireByHand(before, time, { hasGrants: hasGrants(before) })
      if (after === before) return before
      const entry = after.deleted ? { kind: 'expire' as const, visit } : null
      return rows.write({ before, after, now: time, entry })
    })
  }

  /** Whether files can still be downloaded though the push has expired. */
  function hasGrants({ id, files: number, expiredOn, views, expireAfterViews }: StoredPush): boolean {
    if (number === 0 || expiredOn === null) return false
    const time = now()
    return files.hasGranted(id, time) || (views >= expireAfterViews && files.hasUnnamedGrants(time))
  }

  /** An account may have been disabled since its token was looked at. */
  function requireActive(ownerId: number): void {
    const owner = ownerById.get({ id: ownerId })
    if (owner === undefined || presentAccount(owner).disabledAt !== null) {
      throw new DomainError('unauthenticated', 'This account is not active.')
    }
  }

  return {
    createPush,
    claimView,
    refusePassphrase,
    expirePush,
    hasGrants,
    unlockPush,
    findPush: (lookup: Uint8Array): StoredPush | null => rows.findByLookup(lookup) ?? null,
    findSealedPush,
  }
}
