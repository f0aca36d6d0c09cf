// What a store promises to the services, in the words of the domain. Every operation is one atomic step: it
// happens as a whole or not at all, also when the process dies in the middle. A change is durable when its
// promise resolves, and so is what a read says has ended (steps.ts). Any operation may throw `overloaded`
// (nothing was stored), and DamageError when what it read is not as it was written; one that stores something
// new also `disk_full`.

import type { Account } from '../domain/account.ts'
import type { Appearance } from '../domain/appearance.ts'
import type { AuditEntry, LogCounts, Visit } from '../domain/audit.ts'
import type { LimitsToEdit } from '../domain/editing.ts'
import type { PushCounts, PushFacts } from '../domain/listing.ts'
import type { PageNonce } from '../domain/page-nonce.ts'
import type { Problems } from '../domain/problems.ts'
import type { Push } from '../domain/push.ts'
import type { ShareToTake } from '../domain/shares.ts'
import type {
  AccountLinkStore,
  AccountStore,
  ApiTokenStore,
  PeopleStore,
  PreferenceStore,
  SessionStore,
  TwoFactorStore,
} from './accounts-contract.ts'
import type { BucketReport, FileStore, FreeSpace } from './files-contract.ts'
import type { HealthStore } from './health-contract.ts'
import type { ImportStore } from './import-contract.ts'
import type { EventStore, OutboxStore, WebhookStore } from './notices-contract.ts'
import type { AnswerToStore, RequestStore } from './requests-contract.ts'
import type { Mailing, SealedFile, SealedLabels, SealedMails, SealedSecrets } from './sealed-contract.ts'

export type Store = {
  imports: ImportStore
  pushes: PushStore
  lists: PushListStore
  audit: AuditStore
  expiry: ExpiryStore
  idempotencyKeys: IdempotencyStore
  files: FileStore
  accounts: AccountStore
  apiTokens: ApiTokenStore
  sessions: SessionStore
  accountLinks: AccountLinkStore
  twoFactor: TwoFactorStore
  preferences: PreferenceStore
  requests: RequestStore
  people: PeopleStore
  appearance: AppearanceStore
  events: EventStore
  outbox: OutboxStore
  webhooks: WebhookStore
  health: HealthStore
  damage: DamageReports
  freeSpace: FreeSpace
  bucket: BucketReport | null
}

/** What administrators have set of how the server introduces itself; null for what nobody has. */
export type AppearanceStore = {
  find(): Promise<Appearance | null>
  keep(appearance: Appearance): Promise<void>
}

/**
 * A push as it is stored. `id` is the store's name for it, `lookup` finds it by its link, `keyNumber` is its
 * instance key.
 */
export type StoredPush = Push &
  LogCounts & {
    id: number
    lookup: Uint8Array
    keyNumber: number
    /** The number of files at creation. */
    files: number
  }

/** The whole content of a live push, sealed. */
export type SealedContent = { secrets: SealedSecrets; files: SealedFile[] }

/** `sealed` is null once the push has expired. */
export type SealedPush = { push: StoredPush; sealed: SealedContent | null }

export type PushToStore = {
  push: Push
  /**
   * Of its owner's account when the request was let in; 0 without one. A reset link that was used since
   * refuses the create.
   */
  ownerResets: number
  lookup: Buffer
  keyNumber: number
  secrets: SealedSecrets
  /** Null for an anonymous push. */
  labels: SealedLabels | null
  files: SealedFile[]
  /** Null for a push that answers no request for a secret. */
  answer: AnswerToStore | null
  /** Of a request with an idempotency key; null without one. */
  idempotency: KeyToStore | null
  mails: SealedMails
  /** Counted against the creator's address; null when the push is not counted. */
  share: ShareToTake | null
  visit: Visit
}

/** The outcome of a visit; null when the push was purged meanwhile. */
export type Visited<Outcome> = { outcome: Outcome; push: StoredPush } | null

export type VisitToPush = { id: number; visit: Visit }

export type PushStore = {
  /**
   * Stores a push with everything that belongs to it. Throws `unauthenticated` when its owner is not active
   * or began anew, `too_many` when the creator's address has no room, and `conflict` when the idempotency key
   * was used meanwhile. An answer to a request for a secret is counted there in the same step; throws `gone`
   * when that takes no more, `not_found` when it was removed.
   */
  createPush(push: PushToStore): Promise<StoredPush>
  findPush(lookup: Uint8Array): Promise<StoredPush | null>
  findSealedPush(lookup: Uint8Array): Promise<SealedPush | null>
  /**
   * Counts a view, and expires the push when it was the last one. Never counts more views than the push
   * allows, whatever the number of callers. For a push that has expired, audits `failed_view`. Null when
   * there is no such push. Throws `conflict`, with no effect, when the nonce was spent before.
   */
  claimView(claim: Claim): Promise<Claimed | null>
  /**
   * Finds, opens and claims in one step, for a visit without a passphrase. `content` is null when the push
   * has expired. Audits a missing passphrase. Returns a live push with files as it is, because these must be
   * checked before the claim.
   */
  claimPlain<T>(claim: PlainClaim<T>): Promise<PlainClaimed<T> | null>
  /**
   * Audits and counts a wrong passphrase. `limited`: no more are checked for now; nothing was written. The
   * last of `maxTries` (0: no limit) expires or locks the push.
   */
  refusePassphrase(
    options: VisitToPush & { maxTries: number },
  ): Promise<Visited<'refused' | 'expired' | 'limited'>>
  /**
   * Deletes a push. If it has expired by its last view, ends the grants; any other expired push stays
   * unchanged.
   */
  expirePush(visit: VisitToPush): Promise<StoredPush | null>
  /** Deletes several pushes of one owner in one step. Resolves to the number that were not expired before. */
  expirePushes(which: { ids: readonly number[]; ownerId: number; visit: Visit }): Promise<number>
  /**
   * Changes labels and limits of a push of this owner as `decideEdit` decides, and audits a change. A refusal
   * changes nothing. Null when this owner has no such push.
   */
  editPush(edit: EditToPush): Promise<Edited | null>
  /**
   * Adds mails with the link, and audits it. `ended`: the push has expired. Null when this owner has no such
   * push.
   */
  mailLink(of: VisitToPush & Mailing): Promise<Visited<'mailed' | 'ended'>>
  /** Does nothing to a push that is not locked or has expired. */
  unlockPush(visit: VisitToPush): Promise<StoredPush | null>
  /** Whether files of an expired push can still be downloaded. */
  hasGrants(push: StoredPush): Promise<boolean>
}

/** `labels` contains only those that change. */
export type EditToPush = VisitToPush & {
  ownerId: number
  edit: LimitsToEdit
  labels: Partial<Pick<SealedLabels, 'name' | 'note'>>
}

export type Edited = { outcome: 'edited'; push: StoredPush } | { outcome: 'refused'; problems: Problems }

/**
 * When `lookBy` is the owner, the visit is audited as `owner_view` and not counted; null counts all. A
 * counted view spends `nonce`.
 */
export type Claim = VisitToPush & { lookBy: Account | null; nonce?: PageNonce | null }

/** limited: too many wrong passphrases. Then no view was counted, and nothing was written. */
export type Claimed = { outcome: 'view' | 'expired' | 'limited'; push: StoredPush }

/** `open` decrypts the content and has no effects. When it throws, no view is counted. */
export type PlainClaim<T> = Omit<Claim, 'id'> & {
  lookup: Uint8Array
  open: (found: SealedPush) => T
}

/** A used key with its sealed answer; times in milliseconds since 1970. */
export type KeyToStore = { lookup: Buffer; lapsesAt: number; answer: Buffer }

export type PlainClaimed<T> =
  | (Claimed & { content: T | null })
  | { outcome: 'passphrase_required'; push: StoredPush }
  | { outcome: 'has_files'; push: StoredPush; sealed: SealedContent }

export type IdempotencyStore = {
  /** Null for a key that was not used or has lapsed; a null `answer` means that its push has ended. */
  findKey(lookup: Uint8Array): Promise<{ answer: Uint8Array | null } | null>
  /** Removes some lapsed keys and resolves to their number. */
  removeLapsed(): Promise<number>
}

/**
 * `seenViews` is the number of views at the owner's last look, `fileBytes` what the files of a live push have
 * in all.
 */
export type ListedPush = { push: StoredPush; labels: SealedLabels; seenViews: number; fileBytes: number }

/** Enough to open the name and note of a push. */
export type SealedTexts = Pick<StoredPush, 'id' | 'lookup' | 'keyNumber' | 'ownerId'> &
  Pick<SealedLabels, 'name' | 'note'>

type ListOf = { ownerId: number; expired: boolean }

export type PushListStore = {
  /**
   * Newest first, 50 a page by default, from page 1. `until`: created by that time; `beforeId`: stored before
   * that push; `skip`: how many are left out, in place of whole pages.
   */
  listPushes(
    of: ListOf & {
      pageNumber: number
      pageSize?: number
      until?: number | null
      beforeId?: number | null
      skip?: number
    },
  ): Promise<ListedPush[]>
  /** The facts of all pushes of a list, newest first, a piece at a time. */
  readFacts(of: ListOf): AsyncIterable<PushFacts[]>
  /** Name and note of those of these pushes that exist, in any order; at most a few hundred at once. */
  readTexts(ids: readonly number[]): Promise<SealedTexts[]>
  /**
   * Newest first, those that ended by their last view, at which their owner has not looked since. Looks only
   * through the newest of the ended pushes, whose number is bounded.
   */
  listOpened(ownerId: number): Promise<ListedPush[]>
  /**
   * How many were opened since their owner looked, `MOST_UNSEEN` at most. Looks only through the newest of
   * the live and of the ended pushes, whose number is bounded.
   */
  countUnseen(ownerId: number): Promise<number>
  /** These pushes in this order, without those that are not this owner's. */
  listByIds(of: { ownerId: number; ids: readonly number[] }): Promise<ListedPush[]>
  countOwned(ownerId: number): Promise<PushCounts>
  /** Records that the owner has seen all views of these pushes so far. Ignores other owners' pushes. */
  markSeen(which: { ownerId: number; ids: readonly number[] }): Promise<void>
  findLabels(id: number): Promise<(SealedLabels & { seenViews: number }) | null>
}

export type AuditStore = {
  /** Oldest first; `pageNumber` counts from 1. */
  listPage(push: { id: number }, pageNumber: number): Promise<AuditEntry[]>
  /** The whole log, oldest first, a piece at a time. */
  readAll(push: { id: number }): AsyncIterable<AuditEntry[]>
}

export type ExpiryStore = {
  /** When the next live push runs out of time, which may be in the past; null when none is live. */
  findNextLapse(): Promise<number | null>
  /** Writes down the expiry by time of some pushes and resolves to their number. */
  expireLapsed(): Promise<number>
  /** The same for all pushes of one owner, however many others have run out of time. */
  expireLapsedOf(ownerId: number): Promise<void>
  /** Removes all trace of some pushes that expired at `until` or before, and resolves to their number. */
  purgeExpired(which: { of: 'anonymous' | 'owned'; until: number }): Promise<number>
}

/** Reports of damage to the operator. */
export type DamageReports = {
  /** Reports each damaged place once. */
  report(cause: unknown): void
  /** Damaged places found since the start. */
  count(): number
}
