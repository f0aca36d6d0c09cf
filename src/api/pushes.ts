// The push endpoints of the API: each reads a request, calls a service and presents the outcome.

import { DomainError, tooManyTries } from '../domain/errors.ts'
import type { PushLimits } from '../domain/new-push.ts'
import { isEndedByTries, isLocked, type Push, type PushKind } from '../domain/push.ts'
import { formatTime, type Now } from '../domain/time.ts'
import { answerJson } from '../http/answers.ts'
import { type Exchange, requireOpen } from '../http/door/exchange.ts'
import { refusePrefetch } from '../http/door/other-sites.ts'
import type { BodyLimits } from '../http/intake/body.ts'
import { createReadEdit, createReadLinkMail } from '../http/intake/push-edit.ts'
import { createReceivePush, type PushSubmission } from '../http/intake/receiving.ts'
import { secretLink } from '../http/urls.ts'
import { type Idempotency, type KeyedAttempt, keyScopeOf } from '../pushes/idempotency.ts'
import type { Pushes } from '../pushes/pushes.ts'
import type { Retrieval } from '../pushes/retrieval.ts'
import type { Uploads } from '../pushes/uploads.ts'
import { ANSWERS } from './answer-tables.ts'
import { readBefore, readPage, readPassphrase, readUrlToken } from './parameters.ts'
import {
  presentCreated,
  presentDeleted,
  presentEntry,
  presentExpired,
  presentListed,
  presentPreview,
  presentView,
} from './push-json.ts'
import { type ApiRequest, requireAccount } from './viewer.ts'

/** The differences between the versions of the API, and between the path families of the previous one. */
export type Surface = {
  /** The allowed names of the object with the fields, the expected one first. */
  wrappers: readonly string[]
  /** Overrides the body's kind; null accepts it. */
  kind: PushKind | null
  /** Whether a create also reads fields from the query, and a body without a content type. */
  isLenient: boolean
  /** The fixed `error` of a refused passphrase. If null, `error` is the reason, like `message`. */
  passphraseError: string | null
}

const SURFACE: Surface = { wrappers: ['push'], kind: null, isLenient: false, passphraseError: null }

const MEMBERS = [ANSWERS.CreatedPush, ANSWERS.RetrievedPush, ANSWERS.ListedPush].flatMap(({ properties }) =>
  Object.keys(properties),
)

export type PushEndpoints = ReturnType<typeof createPushEndpoints>

export function createPushEndpoints(options: {
  pushes: Pushes
  uploads: Uploads
  idempotency: Idempotency
  limits: PushLimits
  body: BodyLimits
  now: Now
}) {
  const { pushes, idempotency, now } = options
  const receivePush = createReceivePush(options)
  const readEdit = createReadEdit({ ...options, members: MEMBERS })
  const readLinkMail = createReadLinkMail(options)
  const presentation = ({ linkBase }: Exchange) => ({ linkBase, now: now() })

  async function createAs(asked: ApiRequest, surface: Surface): Promise<Response> {
    const created = await attempting(asked, (attempt) =>
      receivePush(incomingOf(asked, surface, attempt), ({ push, upload }) =>
        pushes.create(push, {
          ...{ viewer: asked.viewer, upload, attempt },
          requireOpen: () => requireOpen(asked.exchange),
        }),
      ),
    )
    return answerJson(201, presentCreated(created, asked.exchange.linkBase))
  }

  /** Runs a create under the Idempotency-Key of its request; without a key, `attempt` is null. */
  async function attempting<T>(
    { exchange, viewer }: ApiRequest,
    create: (attempt: KeyedAttempt | null) => Promise<T>,
  ) {
    const key = exchange.request.headers.get('idempotency-key')
    const attempt = key === null ? null : await idempotency.begin({ key, scope: keyScopeOf(viewer) })
    try {
      return await create(attempt)
    } finally {
      attempt?.end()
    }
  }

  async function retrieveAs(
    { exchange, viewer, params }: ApiRequest,
    { passphraseError }: Surface,
  ): Promise<Response> {
    refusePrefetch(exchange.request)
    const urlToken = readUrlToken({ params })
    let passphrase: string | null
    try {
      passphrase = readPassphrase(exchange)
    } catch (cause) {
      // Answer 404 for a missing push before 400 for an unreadable passphrase.
      await pushes.preview(urlToken, viewer)
      throw cause
    }
    const { makeRoom } = exchange
    const retrieval = await pushes.retrieve(urlToken, { passphrase, viewer, ownLook: false, makeRoom })
    return answerRetrieval(retrieval, { exchange, passphraseError })
  }

  type RetrievalSurface = Pick<Surface, 'passphraseError'> & { exchange: Exchange }

  function answerRetrieval(retrieval: Retrieval, { exchange, passphraseError }: RetrievalSurface): Response {
    switch (retrieval.outcome) {
      case 'view':
        return answerJson(200, presentView(retrieval, presentation(exchange)))
      case 'expired':
        return answerJson(200, presentExpired(retrieval, presentation(exchange)))
      case 'passphrase_required':
        return refusePassphrase('This push needs a passphrase.', passphraseError)
      case 'wrong_passphrase':
        return refusePassphrase(explainWrong(retrieval.push), passphraseError)
      case 'locked':
        throw locked(retrieval.push)
      case 'passphrase_locked':
        throw tooManyTries('push', retrieval.lockedFor)
    }
  }

  async function preview({ exchange, viewer, params }: ApiRequest): Promise<Response> {
    const addressed = await pushes.preview(readUrlToken({ params }), viewer)
    return answerJson(200, presentPreview(addressed, presentation(exchange)))
  }

  /** Resolves to one page of the audit log. */
  async function listEntries({ exchange, viewer, params }: ApiRequest) {
    const log = await pushes.openLog(readUrlToken({ params }), viewer)
    return (await log.listPage(readPage(exchange))).map(presentEntry)
  }

  async function expire({ exchange, viewer, params }: ApiRequest): Promise<Response> {
    return answerJson(
      200,
      presentDeleted(await pushes.expire(readUrlToken({ params }), viewer), presentation(exchange)),
    )
  }

  /** Reads the body last, because refusals of the push itself come first. */
  async function edit({ exchange, viewer, params }: ApiRequest): Promise<Response> {
    const urlToken = readUrlToken({ params })
    const edited = await pushes.edit(urlToken, viewer, () => readEdit(exchange))
    return answerJson(200, presentListed(edited, presentation(exchange)))
  }

  /** Reads the body last, as `edit` does. */
  async function notify({ exchange, viewer, params }: ApiRequest): Promise<Response> {
    const urlToken = readUrlToken({ params })
    const mailed = await pushes.notify(urlToken, viewer, (push) => readLinkMail(exchange, viewer, push))
    return answerJson(200, { url: secretLink(mailed, exchange.linkBase) })
  }

  async function list({ exchange, viewer }: ApiRequest, expired: boolean): Promise<Response> {
    const account = requireAccount(viewer)
    const listed = await pushes.list(account, {
      ...{ expired, pageNumber: readPage(exchange), before: readBefore(exchange) },
    })
    const presented = presentation(exchange)
    return answerList(
      listed.pushes.map((push) => presentListed(push, presented)),
      listed,
    )
  }

  return {
    create: (asked: ApiRequest) => createAs(asked, SURFACE),
    createAs,
    retrieve: (asked: ApiRequest) => retrieveAs(asked, SURFACE),
    retrieveAs,
    preview,
    audit: async (asked: ApiRequest) => answerJson(200, { logs: await listEntries(asked) }),
    listEntries,
    expire,
    edit,
    notify,
    active: (asked: ApiRequest) => list(asked, false),
    expired: (asked: ApiRequest) => list(asked, true),
  }
}

/** Answers with a list, and a header with the number of damaged items that it lacks. */
export function answerList(list: readonly object[], { damaged }: { damaged: number }): Response {
  return answerJson(200, list, damaged === 0 ? {} : { 'x-oncebox-left-out': String(damaged) })
}

function incomingOf(
  { exchange, viewer }: ApiRequest,
  { wrappers, isLenient, kind }: Surface,
  attempt: KeyedAttempt | null,
): PushSubmission {
  return {
    ...{ exchange, viewer, wrappers, isLenient, isFingerprinted: attempt !== null, isCheckedLater: true },
    isRepeat: () => attempt !== null && attempt.made !== null,
    revise: (wire) => ({ wire: kind === null ? wire : { ...wire, kind } }),
  }
}

function refusePassphrase(message: string, error: string | null): Response {
  const body = { error: error ?? message, message, status: 'unauthorized' }
  return answerJson(401, body, { 'www-authenticate': 'Bearer' })
}

/** Returns the message for a wrong passphrase. Says so if this try expired or locked the push. */
function explainWrong(push: Push): string {
  const wrong = 'The passphrase is wrong.'
  if (isEndedByTries(push)) return `${wrong} It was the last of too many wrong ones: this push has expired.`
  return isLocked(push) ? `${wrong} ${explainLock(push)}` : wrong
}

function explainLock({ ownerId, expiresAt }: Push): string {
  const until =
    ownerId === null
      ? `it has no owner who could unlock it, and stays locked until it expires at ${formatTime(expiresAt)}`
      : 'it is locked until its owner unlocks it on the pages of this server'
  return `Too many wrong passphrases for this push: ${until}.`
}

function locked(push: Push): DomainError {
  return new DomainError('too_many', explainLock(push), { retryAfter: 60 })
}
