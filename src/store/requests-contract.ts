// What a store promises about requests for secrets. The promises at the head of contract.ts hold here too.

import type { SecretRequest, WrongTry } from '../domain/requests.ts'
import type { ShareToTake } from '../domain/shares.ts'

/** What its account wrote, and what proves the passphrase, sealed; null for what is not there. */
export type SealedRequest = {
  urlToken: Uint8Array
  name: Uint8Array | null
  message: Uint8Array | null
  passphraseSalt: Uint8Array | null
  verifier: Uint8Array | null
}

/** `lookup` finds it by its link; `keyNumber` is its instance key. */
export type RequestToStore = SecretRequest & SealedRequest & { lookup: Uint8Array; keyNumber: number }

export type StoredRequest = RequestToStore & { id: number }

/** The answer of a push to a request. `reservation` is that of its upload; null without one. */
export type AnswerToStore = { requestId: number; reservation: number | null }

export type RequestStore = {
  /** Throws `unauthenticated` when the account is not active or began anew since it had so many `resets`. */
  addRequest(request: RequestToStore, resets: number): Promise<StoredRequest>
  /** A disabled account has closed its requests for as long as it is disabled. */
  findRequest(lookup: Uint8Array): Promise<StoredRequest | null>
  /** Newest first, 50 a page, from page 1. */
  listRequests(of: { accountId: number; pageNumber: number }): Promise<StoredRequest[]>
  /** Leaves one that is over as it is. Null when this account has no such request. */
  closeRequest(which: { id: number; accountId: number }): Promise<StoredRequest | null>
  /**
   * Counts a wrong passphrase, of which the last of `maxTries` (0: no limit) closes the request. Null when it
   * is gone. `limited`: nothing was written.
   */
  refusePassphrase(wrong: { id: number; maxTries: number }): Promise<WrongTry<StoredRequest> | null>
  /**
   * Counts an upload as an answer for ten minutes, and returns its number; null when the request takes no
   * more. Throws `overloaded` while uploads hold all answers that are left, and `too_many` when the sender's
   * address has no room.
   */
  reserveAnswer(which: { id: number; share: ShareToTake | null }): Promise<number | null>
  freeReservation(reservation: number): Promise<void>
  /**
   * Removes some requests that ended at `until` or before, and reservations that have lapsed. Resolves to
   * their number.
   */
  purge(until: number): Promise<number>
}

/** How a request is found by its link, and what is sealed of it. */
export type LinkedRequest = Omit<SealedRequest, 'passphraseSalt'> &
  Pick<RequestToStore, 'lookup' | 'keyNumber'>
