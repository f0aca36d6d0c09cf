// Answering a request: whoever has its link sends text or files, as often as the request takes answers. What comes in is a push of
// its owner's, of whose link the sender learns nothing.

import type { Viewer } from '../domain/audit.ts'
import { DomainError, rethrowWithoutDoubt, retrySeconds } from '../domain/errors.ts'
import { decideLifetime, type NewPush, type PushLimits } from '../domain/new-push.ts'
import { passphraseLockedFor } from '../domain/push.ts'
import { isOver } from '../domain/requests.ts'
import { shareBytes } from '../domain/shares.ts'
import type { Now } from '../domain/time.ts'
import type { Answer } from '../pushes/create-push.ts'
import type { Attempt, Idempotency } from '../pushes/idempotency.ts'
import type { Passphrases } from '../pushes/passphrases.ts'
import type { Pushes } from '../pushes/pushes.ts'
import type { ShareOf } from '../pushes/shares.ts'
import type { EncryptFile, Uploads } from '../pushes/uploads.ts'
import type { Store } from '../store/face.ts'
import type { StoredRequest } from '../store/requests-face.ts'
import { encryptFile, encryptText } from './recipient.ts'

/** `isRight` checks what argon2id makes of a passphrase. */
export type FoundRequest = { request: StoredRequest; name: string; isRight: (key: Uint8Array) => boolean }

export type BeginOptions = {
  viewer: Viewer
  /** Of this answer; null without one. */
  idempotencyKey: string | null
  /** Waits for an earlier attempt with the key instead of refusing. */
  waits?: boolean
}

export type AnsweringOptions = {
  store: Pick<Store, 'requests'>
  pushes: Pick<Pushes, 'create'>
  uploads: Uploads
  idempotency: Pick<Idempotency, 'begin' | 'beginInTurn'>
  passphrases: Passphrases
  shareOf: ShareOf
  limits: PushLimits
  /** Wrong passphrases in all after which a request closes; 0 for no limit. */
  maxWrongTries: number
  now: Now
  /** Throws `not_found`. */
  find: (urlToken: string) => Promise<FoundRequest>
}

export function createBeginAnswer(options: AnsweringOptions) {
  const { store, pushes, uploads, idempotency, passphrases, shareOf, limits, maxWrongTries, now, find } =
    options
  /** Requests with a passphrase to which somebody uploads files before the passphrase has come. */
  const unproven = new Set<number>()

  /** Throws `not_found`, and `gone` unless this is a repeat of an answer that has arrived. */
  async function begin(urlToken: string, options: BeginOptions) {
    const { request, name } = await find(urlToken)
    const attempt = await attemptOf(urlToken, options)
    const isRepeat = attempt !== null && attempt.made !== null
    if (isRepeat || !isOver(request, now()))
      return answer({ ...options, urlToken, request, name, attempt, isRepeat })
    attempt?.end()
    throw closed()
  }

  async function attemptOf(urlToken: string, { idempotencyKey: key, waits = false }: BeginOptions) {
    if (key === null) return null
    const presented = { key, scope: `request ${urlToken}` }
    return waits ? idempotency.beginInTurn(presented) : idempotency.begin(presented)
  }

  /** One answer that is being sent. `isRepeat`: it has arrived before, and its files are compared, not stored. */
  function answer({ viewer, urlToken, request, name, attempt, isRepeat }: Begun) {
    const { id, recipient } = request
    const encrypt: EncryptFile | null =
      recipient === null ? null : (file, n) => encryptFile(recipient, file, { n, at: now() })
    const upload = uploads.begin({ isFingerprinted: attempt !== null, encrypt })
    let isAdmitted = isRepeat || request.passphraseSalt === null
    let trying: Promise<void> | null = null
    let reserving: Promise<number | null> | null = null

    /**
     * Call it with the passphrase before anything is completed, and before a file where it is known by then. Throws
     * `unauthenticated` for a missing or wrong one, `too_many` after too many wrong ones, and `gone`.
     */
    async function admit(passphrase: string | null): Promise<void> {
      if (isAdmitted) return
      if (passphrase === null) throw refusal('missing', 'This request needs a passphrase.')
      // One try, however many files wait for it.
      trying ??= tryPassphrase(id, { urlToken, passphrase, ip: viewer.visit.ip })
      await trying
      isAdmitted = true
    }

    /**
     * Call it before each file. Throws `gone` when the request takes no further answer. Before the passphrase has come nothing is
     * reserved, so that strangers cannot hold an answer back.
     */
    async function reserve(): Promise<void> {
      if (isRepeat) return
      if (isAdmitted) reserving ??= reserveOne()
      else reserving ??= beFirst()
      await reserving
    }

    async function reserveOne(): Promise<number> {
      const bytes = shareBytes({ payload: 0, views: limits.views.default })
      const share = shareOf(viewer, bytes)
      const reservation = await store.requests.reserveAnswer({ id, share }).catch(rethrowWithoutDoubt)
      if (reservation === null) throw closed()
      return reservation
    }

    /** Files that come before the passphrase are taken one answer at a time, because they may fill the disk. */
    async function beFirst(): Promise<null> {
      if (unproven.has(id))
        throw tooMany('Somebody else is sending files here: give the passphrase before them', 1)
      unproven.add(id)
      holdsPlace = true
      return null
    }

    let holdsPlace = false
    let isCompleted = false

    /** Makes the push. Throws `gone` when the request has ended meanwhile, and what creating a push throws. */
    async function complete(payload: string): Promise<void> {
      const answered: Answer = {
        ...{ requestId: id, urlToken, ownerId: request.accountId, reservation: await reserving },
        encrypt: recipient === null ? null : (text) => encryptText(recipient, text),
      }
      const wanted = pushOf({ name, payload, files: upload.listFiles().length }, limits)
      await pushes.create(wanted, { viewer, upload, attempt, answer: answered })
      isCompleted = true
    }

    /** Frees what a broken-off answer has reserved. */
    async function end(): Promise<void> {
      attempt?.end()
      if (holdsPlace) unproven.delete(id)
      const reservation = await reserving?.catch(() => null)
      // If it cannot be freed now, it lapses.
      if (typeof reservation === 'number' && !isCompleted)
        await store.requests.freeReservation(reservation).catch(() => undefined)
    }

    return { request, upload, isRepeat, admit, reserve, complete, end }
  }

  /** Tries of one request take turns; each looks at those before it. */
  function tryPassphrase(id: number, { urlToken, passphrase, ip }: Try): Promise<void> {
    return passphrases.inTurn(`request ${id}`, ip, async () => {
      const { request, isRight } = await find(urlToken)
      if (isOver(request, now())) throw closed()
      refuseLocked(request)
      const { key } = await passphrases.derive(passphrase, ip, request.passphraseSalt ?? undefined)
      if (!isRight(key)) throw await countWrong(request)
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
    if (wait > 0) throw tooMany('Too many wrong passphrases for this request', retrySeconds(wait), true)
  }

  return begin
}

type Try = { urlToken: string; passphrase: string; ip: string }

type Begun = Omit<BeginOptions, 'idempotencyKey'> & {
  urlToken: string
  request: StoredRequest
  name: string
  attempt: Attempt | null
  isRepeat: boolean
}

/** With the defaults of this instance, from now on. Its name is that of the request. */
function pushOf(
  { name, payload, files }: { name: string; payload: string; files: number },
  limits: PushLimits,
): NewPush {
  const { days, views, deletableByViewer, retrievalStep } = limits
  return {
    ...{ kind: files > 0 ? 'file' : 'text', payload, name, note: '', passphrase: null, mail: null },
    ...decideLifetime({ days: null, duration: null }, days),
    ...{ expireAfterViews: views.default, deletableByViewer, retrievalStep, showsSender: false },
  }
}

function closed(): DomainError {
  return new DomainError('gone', 'request-closed')
}

function refusal(passphrase: 'missing' | 'wrong', message: string): DomainError {
  return new DomainError('unauthenticated', message, { passphrase })
}

function tooMany(message: string, retryAfter: number, isLocked = false): DomainError {
  return new DomainError('too_many', `${message}: try again in ${retryAfter} s.`, { retryAfter, isLocked })
}
