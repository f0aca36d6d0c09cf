// Idempotency keys: a client that lost the answer to a create retries with its key and gets the same answer.

import {
  fingerprintOf,
  type KeptAnswer,
  lookupOfKey,
  openAnswer,
  type PresentedKey,
  sealAnswer,
} from '../crypto/idempotency-key.ts'
import type { InstanceKey, Keyring } from '../crypto/keyring.ts'
import { lookupOf } from '../crypto/url-token.ts'
import type { Viewer } from '../domain/audit.ts'
import { networkOf } from '../domain/client.ts'
import { DamageError, DomainError, invalidFields } from '../domain/errors.ts'
import type { NewPush } from '../domain/new-push.ts'
import { asCreated, isExpired } from '../domain/push.ts'
import { DAY, type Now } from '../domain/time.ts'
import type { Store } from '../store/contract.ts'
import type { KeyToStore, StoredPush } from '../store/pushes-contract.ts'
import type { FilePrint } from './uploads.ts'

export { newIdempotencyKey } from '../crypto/idempotency-key.ts'
export type { PresentedKey }

const LIFETIME = DAY

/** Characters of a key, each one printable ASCII. */
export const KEY_LENGTH = { min: 22, max: 128 } as const
const KEY = new RegExp(`^[\\x20-\\x7e]{${KEY_LENGTH.min},${KEY_LENGTH.max}}$`)

/** The answer to an earlier request with the key. The push is in its state at creation. */
export type FirstAnswer = KeptAnswer & { push: StoredPush }

/** An attempt with an idempotency key. No other request may use the key until `end`. */
export type KeyedAttempt = {
  /** The earlier answer; null at the first use of the key. */
  made: FirstAnswer | null
  /** Searches again: another node may have used the key meanwhile. */
  find(): Promise<FirstAnswer | null>
  /** Returns the row of the key, which is stored in the same commit as the push. */
  seal(of: KeptAnswer & { createdAt: number }): KeyToStore
  /** Frees the key for another attempt. May be called more than once. */
  end(): void
}

export type Idempotency = ReturnType<typeof createIdempotency>

export type IdempotencyOptions = {
  store: Pick<Store, 'idempotencyKeys' | 'pushes'>
  keyring: Keyring
  now: Now
}

export function createIdempotency({ store, keyring, now }: IdempotencyOptions) {
  /** The requests of this process. If two nodes use a key at once, the commit of the create decides. */
  const running = new Map<string, Promise<void>>()

  /**
   * Begins an attempt. Throws `malformed` for an invalid key, and `conflict` if its push has ended or another
   * request is using it; with `waits` it waits for that request instead.
   */
  async function begin(presented: PresentedKey, { waits = false } = {}): Promise<KeyedAttempt> {
    for (;;) {
      if (waits) await running.get(nameOf(presented))
      const attempt = await beginIfFree(presented)
      if (attempt !== null) return attempt
      if (!waits) throw stillRuns()
    }
  }

  /** Returns null while another request is using the key. */
  async function beginIfFree(presented: PresentedKey): Promise<KeyedAttempt | null> {
    const name = nameOf(presented)
    if (running.has(name)) return null
    const made = await find(presented)
    const seal: KeyedAttempt['seal'] = ({ createdAt, ...answer }) => {
      const { sealing } = keyring
      const lookup = lookupOfKey(presented, sealing)
      return { lookup, lapsesAt: createdAt + LIFETIME, answer: sealAnswer(answer, presented, sealing) }
    }
    const attempt = { made, seal, find: () => find(presented) }
    if (made !== null) return { ...attempt, end: () => undefined }
    // Another request may have occupied the key during the search.
    return running.has(name) ? null : { ...attempt, end: occupy(name) }
  }

  /** Marks the key as in use; returns a function that frees it. */
  function occupy(name: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    running.set(name, promise)
    return () => {
      if (running.get(name) === promise) running.delete(name)
      resolve()
    }
  }

  /**
   * Returns null for an unused key. Throws `malformed`, `conflict` if its push has ended, and `overloaded` if
   * another process may know the key.
   */
  async function find(presented: PresentedKey): Promise<FirstAnswer | null> {
    requireKey(presented)
    for (const instanceKey of keyring.keys) {
      const used = await store.idempotencyKeys.findKey(lookupOfKey(presented, instanceKey))
      if (used !== null) return open(used.answer, { presented, instanceKey })
    }
    return null
  }

  type UsedKey = { presented: PresentedKey; instanceKey: InstanceKey }

  async function open(sealed: Uint8Array | null, { presented, instanceKey }: UsedKey): Promise<FirstAnswer> {
    if (sealed === null) throw hasEnded()
    const answer = openAnswer(sealed, presented, instanceKey)
    if (answer === null) throw new DamageError('the answer of an idempotency key')
    const push = await store.pushes.findPush(lookupOf(answer.urlToken, instanceKey.lookup))
    if (push === null || isExpired(push, now())) throw hasEnded()
    return { ...answer, push: asCreated(push) }
  }

  return { begin, find, hasEnded }
}

/**
 * Returns a fingerprint of a create: its fields, with defaults filled in, and its files with their contents.
 */
export function fingerprintOfPush(wanted: NewPush, files: readonly FilePrint[]): Buffer {
  const fields = Object.entries(wanted).sort(([one], [other]) => (one < other ? -1 : 1))
  return fingerprintOf({ fields, files })
}

/** Throws `invalid` when the key was used before with other fields. */
export function requireSameFields(made: FirstAnswer, fingerprint: Buffer): void {
  if (!made.fingerprint.equals(fingerprint))
    throw invalidFields({ idempotency_key: [{ code: 'key_reused' }] })
}

/**
 * Returns the scope of a key: the account, or the address if there is none. All of loopback is one scope, and
 * so is an IPv6 /64.
 */
export function keyScopeOf({ account, visit }: Viewer): string {
  return account === null ? `address ${networkOf(visit.ip) ?? 'loopback'}` : `account ${account.id}`
}

/** Joins scope and key with a line break, which no key contains. */
function nameOf({ key, scope }: PresentedKey): string {
  return `${scope}\n${key}`
}

function requireKey({ key }: PresentedKey): void {
  const { min, max } = KEY_LENGTH
  if (KEY.test(key)) return
  throw new DomainError('malformed', `Idempotency-Key must have ${min} to ${max} printable ASCII characters.`)
}

function stillRuns(): DomainError {
  const message = 'The first request with this Idempotency-Key still runs: try again in a moment.'
  return new DomainError('conflict', message, { retryAfter: 1 })
}

function hasEnded(): DomainError {
  const message = 'The push that this Idempotency-Key made has ended: use another key to make another push.'
  return new DomainError('conflict', message)
}
