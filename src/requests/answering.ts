// Answering a request: anyone with its link sends text or files, up to the limit of answers. Each answer
// becomes a push of the request's owner; the sender does not learn its link.

import type { Keyring } from '../crypto/keyring.ts'
import type { Viewer } from '../domain/audit.ts'
import { DomainError, rethrowWithoutDoubt, tooManyTries } from '../domain/errors.ts'
import { decideLifetime, type NewPush, type PushLimits } from '../domain/new-push.ts'
import { passphraseLockedFor } from '../domain/push.ts'
import { isOver, titleOfRequest } from '../domain/requests.ts'
import { shareBytes } from '../domain/shares.ts'
import type { Now } from '../domain/time.ts'
import type { RequestAnswer } from '../pushes/create-push.ts'
import type { Idempotency, KeyedAttempt } from '../pushes/idempotency.ts'
import type { ShareOf } from '../pushes/limits.ts'
import type { Passphrases } from '../pushes/passphrases.ts'
import type { Pushes } from '../pushes/pushes.ts'
import type { EncryptFile, IncomingFile, Uploads } from '../pushes/uploads.ts'
import type { Store } from '../store/contract.ts'
import type { StoredRequest } from '../store/requests-contract.ts'
import { encryptFile, encryptText } from './recipient.ts'
import { isRightKey, openTexts } from './request-texts.ts'

export type BeginOptions = {
  viewer: Viewer
  /** The Idempotency-Key of this answer; null without one. */
  idempotencyKey: string | null
  /** Waits for an earlier attempt with the key instead of refusing. */
  waits?: boolean
}

export type AnsweringOptions = {
  store: Pick<Store, 'requests'>
  pushes: Pick<Pushes, 'create'>
  uploads: Uploads
  idempotency: Pick<Idempotency, 'begin'>
  passphrases: Passphrases
  shareOf: ShareOf
  limits: PushLimits
  /** Total of wrong passphrases after which a request closes; 0 for no limit. */
  maxWrongTries: number
  now: Now
  /** Throws `not_found`. */
  find: (urlToken: string) => Promise<StoredRequest>
  keyring: Keyring
}

export function createBeginAnswer(options: AnsweringOptions) {
  const { store, pushes, uploads, idempotency, passphrases } = options
  const { shareOf, limits, maxWrongTries, now, find, keyring } = options

  /** Requests with a sender who uploads files before the passphrase. */
  const unproven = new Set<number>()

  /** Begins an answer. Throws `not_found`; and `gone`, unless this repeats an answer that has arrived. */
  async function begin(urlToken: string, { viewer, idempotencyKey: key, waits = false }: BeginOptions) {
    const request = await find(urlToken)
    const presented = key === null ? null : { key, scope: `request ${urlToken}` }
    const attempt = presented && (await idempotency.begin(presented, { waits }))
    const isRepeat = attempt !== null && attempt.made !== null
    if (isRepeat || !isOver(request, now())) return answer({ request, viewer, urlToken, attempt, isRepeat })
    attempt?.end()
    throw closed()
  }

  /** An answer that is being sent. `isRepeat`: it arrived before, and its files are compared, not stored. */
  function answer({ viewer, urlToken, request, attempt, isRepeat }: AnswerStart) {
    const { id, recipient } = request
    const encrypt: EncryptFile | null =
      recipient === null ? null : (file, n) => encryptFile(recipient, file, { n, at: now() })
    const upload = uploads.begin({ isFingerprinted: attempt !== null, encrypt })
    let trying: Promise<void> | null = null
    let reserving: Promise<number | null> | null = null
    let isUnproven = false
    let isCompleted = false

    /**
     * Checks the passphrase, and reserves an answer. Throws `unauthenticated` for a missing or wrong
     * passphrase, `too_many` after too many wrong ones, and `gone` if the request accepts no more answers.
     */
    async function admit(passphrase: string | null): Promise<void> {
      if (isRepeat || request.passphraseSalt === null) return
      // Count one try, even if several files wait for the result.
      trying ??= tryPassphrase({ urlToken, passphrase, ip: viewer.visit.ip })
      await trying
    }

    /** Stores a file. Throws what `admit`, reserving and `upload.add` throw. */
    async function addFile(file: IncomingFile, passphrase: string | null): Promise<void> {
      const isProven = passphrase !== null || request.passphraseSalt === null
      if (isProven) await admit(passphrase)
      if (isRepeat) upload.compareOnly()
      else if (!isProven) {
        reserving ??= beFirst()
        await reserving
      }
      await upload.add(file, enter)
    }

    /** The first file of an answer is entered with its reservation. */
    async function enter(fileId: string): Promise<boolean> {
      const isFirst = reserving === null
      reserving ??= reserve(fileId)
      await reserving
      return isFirst
    }

    /** Lets only one sender at a time upload files before its passphrase arrives. Reserves no answer. */
    async function beFirst(): Promise<null> {
      if (unproven.has(id)) throw crowded()
      unproven.add(id)
      isUnproven = true
      return null
    }

    async function reserve(fileId: string): Promise<number> {
      const bytes = shareBytes({ payload: 0, views: limits.views.default })
      const share = shareOf(viewer, bytes)
      const reservation = await store.requests.reserveAnswer({ id, share, fileId }).catch(rethrowWithoutDoubt)
      if (reservation === null) throw closed()
      return reservation
    }

    /**
     * Creates the push of an admitted answer. Throws `gone` if the request has ended since, and whatever
     * creating a push throws.
     */
    async function complete({ payload, isEndToEnd }: ReceivedAnswer): Promise<void> {
      const encryptedBy = isEndToEnd ? 'sender' : recipient === null ? null : 'server'
      const answered: RequestAnswer = {
        ...{ requestId: id, urlToken, ownerId: request.accountId, reservation: await reserving },
        encrypt: isEndToEnd || recipient === null ? null : (text) => encryptText(recipient, text),
      }
      const name = titleOfRequest(openTexts(request, keyring))
      const wanted = pushOf({ name, payload, files: upload.listFiles().length, encryptedBy }, limits)
      await pushes.create(wanted, { viewer, upload, attempt, answer: answered })
      isCompleted = true
    }

    /** Frees the reservations of an aborted answer. */
    async function end(): Promise<void> {
      attempt?.end()
      if (isUnproven) unproven.delete(id)
      const reservation = isCompleted ? null : await reserving?.catch(() => null)
      // Ignore a failure: a reservation that is not freed expires.
      if (reservation) await store.requests.freeReservation(reservation).catch(() => undefined)
    }

    return { request, upload, admit, addFile, complete, end }
  }

  /**
   * Checks a passphrase. Tries of one request take turns, because each depends on the count of those before
   * it.
   */
  async function tryPassphrase({ urlToken, passphrase, ip }: Try): Promise<void> {
    if (passphrase === null) throw refusal('missing', 'This request needs a passphrase.')
    await passphrases.inTurn(`request ${urlToken}`, ip, async () => {
      const request = await find(urlToken)
      if (isOver(request, now())) throw closed()
      refuseLocked(request)
      const { key } = await passphrases.derive(passphrase, ip, request.passphraseSalt ?? undefined)
      if (!isRightKey(key, request, keyring)) throw await countWrong(request)
    })
  }

  async function countWrong({ id }: StoredRequest): Promise<DomainError> {
    const refused = await store.requests
      .refusePassphrase({ id, maxTries: maxWrongTries })
      .catch(rethrowWithoutDoubt)
    if (refused === null || refused.outcome === 'closed') return closed()
    if (refused.outcome === 'limited') refuseLocked(refused.request)
    const isLast = refused.request.closedAt !== null
    const last = isLast ? ' It was the last of too many wrong ones: this request is closed.' : ''
    return refusal('wrong', `The passphrase is wrong.${last}`)
  }

  function refuseLocked(request: StoredRequest): void {
    const wait = passphraseLockedFor(request, now())
    if (wait > 0) throw tooManyTries('request', wait)
  }

  return begin
}

type ReceivedAnswer = { payload: string; isEndToEnd: boolean }

type Try = { urlToken: string; passphrase: string | null; ip: string }

type AnswerStart = {
  request: StoredRequest
  viewer: Viewer
  urlToken: string
  attempt: KeyedAttempt | null
  isRepeat: boolean
}

type AnswerToPush = Pick<NewPush, 'name' | 'payload' | 'encryptedBy'> & { files: number }

/** Makes a new push with the defaults of this instance, named like the request. */
function pushOf({ name, payload, files, encryptedBy }: AnswerToPush, limits: PushLimits): NewPush {
  const { days, views, deletableByViewer, retrievalStep } = limits
  return {
    ...{ kind: files > 0 ? 'file' : 'text', payload, name, note: '', passphrase: null, mail: null },
    ...decideLifetime({ days: null, duration: null }, days),
    ...{ expireAfterViews: views.default, deletableByViewer, retrievalStep },
    ...{ showsSender: false, namesRecipient: false, codeRequired: false, encryptedBy, keyCheck: null },
  }
}

/** Returns the refusal of a request that accepts no more answers. */
export function closed(): DomainError {
  return new DomainError('gone', 'request-closed')
}

function crowded(): DomainError {
  const message = 'Somebody else is sending files here: give the passphrase before them, or try again in 1 s.'
  return new DomainError('too_many', message, { retryAfter: 1 })
}

function refusal(passphrase: 'missing' | 'wrong', message: string): DomainError {
  return new DomainError('unauthenticated', message, { passphrase })
}
