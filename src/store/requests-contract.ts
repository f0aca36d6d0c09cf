// The records of requests for secrets that services and the store exchange.

import type { SecretRequest } from '../domain/requests.ts'

/** The sealed texts of a request and the sealed proof of its passphrase; null for absent ones. */
type SealedRequest = {
  urlToken: Uint8Array
  name: Uint8Array | null
  message: Uint8Array | null
  passphraseSalt: Uint8Array | null
  verifier: Uint8Array | null
}

/** `lookup` finds it by its link; `keyNumber` is its instance key. */
export type RequestToStore = SecretRequest & SealedRequest & { lookup: Uint8Array; keyNumber: number }

export type StoredRequest = RequestToStore & { id: number }

/** Stored with a push that answers a request. `reservation` is that of its upload; null if it has none. */
export type AnswerToStore = { requestId: number; reservation: number | null }

/** The lookup of a request by its link, and its sealed members. */
export type LinkedRequest = Omit<SealedRequest, 'passphraseSalt'> &
  Pick<RequestToStore, 'lookup' | 'keyNumber'>
