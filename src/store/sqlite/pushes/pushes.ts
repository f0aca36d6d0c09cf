// Stored pushes. Each exported operation is one atomic step, durable when its promise resolves.

import { eq, sql } from 'drizzle-orm'
import type { Visit } from '../../../domain/audit.ts'
import { DamageError } from '../../../domain/errors.ts'
import { isExpired } from '../../../domain/push.ts'
import type { Now } from '../../../domain/time.ts'
import {
  decideClaim,
  decideDeletion,
  decideLastTry,
  decideRefusal,
  decideUnlock,
  type Step,
} from '../../../domain/visits.ts'
import { presentAccount } from '../../accounts/accounts.ts'
import { inactiveAccount } from '../../every-engine/refusals.ts'
import type {
  Claim,
  Claimed,
  PlainClaim,
  PushStore,
  PushToStore,
  SealedContent,
  SealedPush,
  StoredPush,
  Visited,
  VisitToPush,
} from '../../face.ts'
import { accounts } from '../../tables.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import type { FileRows } from '../files/file-rows.ts'
import type { AddressShares } from './address-shares.ts'
import type { IdempotencyRows } from './idempotency-keys.ts'
import type { PushRow } from './push-checksum.ts'
import { createPushEditing } from './push-editing.ts'
import type { PushRows } from './push-rows.ts'

const GROWS = { grows: true }

export function createPushes(options: {
  connection: Connection
  rows: PushRows
  shares: AddressShares
  files: FileRows
  idempotency: Pick<IdempotencyRows, 'insert'>
  transact: Transact
  now: Now
  /** The time by which something may be destroyed. */
  certain: Now
}): PushStore {
  const { rows, shares, files, idempotency, transact, now, certain } = options
  const { orm } = options.connection
  const ownerById = orm
    .select()
    .from(accounts)
    .where(eq(accounts.id, sql.placeholder('id')))
    .prepare()

  function createPush({
    push,
    ownerResets,
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
      if (push.ownerId !== null) requireActive(push.ownerId, ownerResets)
      if (share !== null) shares.requireRoom(share, push.createdAt)
      const row = rows.insert({ ...push, lookup, keyNumber, files: sealed.length }, secrets, visit)
      if (share !== null) shares.take(share, row)
      if (labels !== null) rows.insertLabels({ pushId: row.id, ...labels, seenViews: 0 })
      files.attach(sealed.map((file, n) => ({ pushId: row.id, n, ...file })))
      if (key !== null) idempotency.insert(key, { pushId: row.id, now: push.createdAt })
      return row
    }, GROWS)
  }

  async function findSealedPush(lookup: Uint8Array): Promise<SealedPush | null> {
    const push = rows.findByLookup(lookup)
    if (push === undefined) return null
    return { push, sealed: isExpired(push, now()) ? null : findContent(push) }
  }

  function findContent({ id, files: number }: StoredPush): SealedContent | null {
    const secrets = rows.findSecrets(id)
    const sealedFiles = number === 0 ? [] : files.listOfPush(id)
    if (secrets !== null && sealedFiles.length === number) return { secrets, files: sealedFiles }
    // A command beside the server may have removed the push between these reads.
    if (rows.findById(id) === undefined) return null
    throw new DamageError(`push ${id}`)
  }

  /** Reads the row again: it may have changed since the push was found. */
  function claimView({ id, visit, lookBy }: Claim): Promise<Claimed | null> {
    return transact(() => {
      const before = rows.findById(id)
      return before === undefined ? null : count(before, { visit, lookBy })
    })
  }

  function claimPlain<T>({ lookup, open, ...claim }: PlainClaim<T>) {
    return transact((): (Claimed & { content: T | null }) | 'not_plain' | null => {
      const before = rows.findByLookup(lookup)
      if (before === undefined) return null
      if (before.passphraseRequired || before.files > 0) return 'not_plain'
      const content = isExpired(before, now()) ? null : open({ push: before, sealed: findContent(before) })
      return { ...count(before, claim), content }
    })
  }

  /** Within a transaction that has read the row. */
  function count(before: PushRow, claim: Omit<Claim, 'id'>): Claimed {
    const { outcome, step } = decideClaim(before, claim, { now: now(), certain: certain() })
    return { outcome, push: rows.write(before, step) }
  }

  function refusePassphrase({
    id,
    ...asked
  }: VisitToPush & { wrong: boolean; maxTries: number }): Promise<Visited<'refused' | 'expired'>> {
    return transact(() => {
      const before = rows.findById(id)
      if (before === undefined) return null
      const times = { now: now(), certain: certain() }
      const { outcome, step } = decideRefusal(before, asked, times)
      const refused = rows.write(before, step)
      const last = outcome === 'expired' ? null : decideLastTry(refused, asked, times.now)
      return { outcome, push: take(refused, last) }
    })
  }

  function unlockPush({ id, visit }: VisitToPush): Promise<StoredPush | null> {
    return transact(() => {
      const before = rows.findById(id)
      return before === undefined ? null : take(before, decideUnlock(before, visit, now()))
    })
  }

  /** Within a transaction. Returns the same row when there is nothing to write. */
  function take(before: PushRow, step: Step<PushRow> | null): PushRow {
    return step === null ? before : rows.write(before, step)
  }

  function expirePush({ id, visit }: VisitToPush): Promise<StoredPush | null> {
    return transact(() => {
      const before = rows.findById(id)
      return before === undefined ? null : expire(before, visit)
    })
  }

  function expirePushes({ ids, ownerId, visit }: Parameters<PushStore['expirePushes']>[0]): Promise<number> {
    return transact(() => {
      const found = ids.map(rows.findById).filter((push) => push?.ownerId === ownerId)
      return found.filter((before) => before !== undefined && expire(before, visit) !== before).length
    })
  }

  /** Within a transaction. Returns the same row when there was nothing to end. */
  function expire(before: PushRow, visit: Visit): PushRow {
    return take(before, decideDeletion(before, { visit, hasGrants: hasGrants(before) }, certain()))
  }

  function hasGrants({ id, files: number, expiredOn, views, expireAfterViews }: StoredPush): boolean {
    if (number === 0 || expiredOn === null) return false
    const time = now()
    return files.hasGranted(id, time) || (views >= expireAfterViews && files.hasUnnamedGrants(time))
  }

  /** Checked here, because the account may have been disabled since its token was checked. */
  /** Throws `unauthenticated` also when the account has begun anew since. */
  function requireActive(ownerId: number, ownerResets: number): void {
    const row = ownerById.get({ id: ownerId })
    const owner = row === undefined ? null : presentAccount(row)
    if (owner === null || owner.disabledAt !== null || owner.resets !== ownerResets) throw inactiveAccount()
  }

  return {
    createPush,
    claimView,
    claimPlain,
    refusePassphrase,
    expirePush,
    expirePushes,
    ...createPushEditing(options),
    unlockPush,
    hasGrants: async (push) => hasGrants(push),
    findPush: async (lookup) => rows.findByLookup(lookup) ?? null,
    findSealedPush,
  }
}
