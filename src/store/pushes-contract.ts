// The records of pushes that services and the store exchange.

import type { Account } from '../domain/account.ts'
import type { LogCounts, Visit } from '../domain/audit.ts'
import type { LimitsToEdit } from '../domain/editing.ts'
import type { PageNonce } from '../domain/page-nonce.ts'
import type { Problems } from '../domain/problems.ts'
import type { Push } from '../domain/push.ts'
import type { ShareToTake } from '../domain/shares.ts'
import type { AnswerToStore } from './requests-contract.ts'
import type { SealedFile, SealedLabels, SealedMails, SealedSecrets } from './sealed-contract.ts'

/**
 * A push as it is stored. `id` identifies it within the store, `lookup` is derived from its link, and
 * `keyNumber` is its instance key.
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
   * The number of password resets of the owner's account when the request was admitted; 0 without an owner. A
   * reset link that was used since refuses the create.
   */
  ownerResets: number
  lookup: Buffer
  keyNumber: number
  secrets: SealedSecrets
  /** The sealed labels; null for an anonymous push. */
  labels: SealedLabels | null
  files: SealedFile[]
  /** The answered request for a secret; null for any other push. */
  answer: AnswerToStore | null
  /** The idempotency key of the request; null without one. */
  idempotency: KeyToStore | null
  mails: SealedMails
  /** The share of the creator's address; null when the push is not counted. */
  share: ShareToTake | null
  visit: Visit
  /** Throws if the client has disconnected. Then nothing is stored. */
  requireOpen?: (() => void) | undefined
}

/** The outcome of a visit; null when the push was purged meanwhile. */
export type Visited<Outcome> = { outcome: Outcome; push: StoredPush } | null

/** `by`: the account that asks, if any. */
export type VisitToPush = { id: number; visit: Visit; by?: number | null }

/** `labels` contains only those that change. */
export type EditToPush = VisitToPush & {
  ownerId: number
  edit: LimitsToEdit
  labels: Partial<Pick<SealedLabels, 'name' | 'note' | 'namesRecipient'>>
}

export type Edited = { outcome: 'edited'; push: StoredPush } | { outcome: 'refused'; problems: Problems }

/**
 * `lookBy`: the account whose own pushes are not counted, only audited as `owner_view`; null counts every
 * view. A counted view uses up `nonce`.
 */
export type Claim = VisitToPush & { lookBy: Account | null; nonce?: PageNonce | null }

/** `limited`: there were too many wrong passphrases, so no view was counted and nothing was written. */
export type ClaimResult = { outcome: 'view' | 'expired' | 'limited'; push: StoredPush }

/** `open` decrypts the content and has no effects. When it throws, no view is counted. */
export type PlainClaim<T> = Omit<Claim, 'id'> & {
  lookup: Uint8Array
  open: (found: SealedPush) => T
}

/** A try of the code beside a link. `isRight` was decided with its salt, which this step does not read. */
export type CodeTry = VisitToPush & { isRight: boolean }

/** A used key with its sealed answer; times in milliseconds since 1970. */
export type KeyToStore = { lookup: Buffer; lapsesAt: number; answer: Buffer }

export type PlainClaimed<T> =
  | (ClaimResult & { content: T | null })
  | { outcome: 'passphrase_required'; push: StoredPush }
  | { outcome: 'has_files'; push: StoredPush; sealed: SealedContent }

/**
 * `seenViews`: the number of views when the owner last looked. `readAt`: when the owner read an answer.
 * `fileBytes`: the total size of the files of a live push.
 */
export type ListedPush = {
  push: StoredPush
  labels: SealedLabels
  seenViews: number
  readAt: number | null
  fileBytes: number
}

/** The facts that are needed to open the name and note of a push. */
export type SealedTexts = Pick<StoredPush, 'id' | 'lookup' | 'keyNumber' | 'ownerId'> &
  Pick<SealedLabels, 'name' | 'note'>
