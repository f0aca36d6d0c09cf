// The use cases of requests for secrets: the owner creates, lists and closes them; a stranger with the link
// sees one.

import { isUrlToken, newUrlToken } from '../crypto/url-token.ts'
import type { Account } from '../domain/account.ts'
import { PAGE_SIZE } from '../domain/audit.ts'
import { keepIntact } from '../domain/damage.ts'
import { invalidFields, notFound } from '../domain/errors.ts'
import { isOver, type NewRequest, type SecretRequest } from '../domain/requests.ts'
import type { Store } from '../store/contract.ts'
import type { StoredRequest } from '../store/requests-contract.ts'
import { type AnsweringOptions, createBeginAnswer } from './answering.ts'
import { requireRecipient } from './recipient.ts'
import { lookupOfRequest, openTexts, sealTexts, verifierOf } from './request-texts.ts'

/** A request as its owner sees it. `isOver`: used up, closed, or past its time. */
export type OwnRequest = {
  request: SecretRequest & { id: number }
  urlToken: string
  name: string
  message: string
  passphraseRequired: boolean
  isOver: boolean
}

/** `damaged`: the number of requests that cannot be shown. After a full page there may be another page. */
export type PageOfRequests = { requests: OwnRequest[]; damaged: number; isFull: boolean }

/** A request as a person with its link sees it. */
export type AskedRequest = Pick<OwnRequest, 'urlToken' | 'message' | 'passphraseRequired'> &
  Pick<
    SecretRequest,
    'accountId' | 'acceptsText' | 'acceptsFiles' | 'expiresAt' | 'recipient' | 'showsSender'
  >

export type Requests = ReturnType<typeof createRequests>

type RequestsOptions = Omit<AnsweringOptions, 'find'> & {
  store: Pick<Store, 'requests' | 'preferences' | 'damage'>
  /** Logs each change of an account's key, because its new holder reads later answers. */
  log: { info: (kept: { accountId: number; recipient: string | null }, message: string) => void }
}

export function createRequests(options: RequestsOptions) {
  const { store, keyring, passphrases, limits, now, log } = options

  /**
   * Throws `invalid` for a recipient key that cannot encrypt or is missing where it is required, and
   * `unauthenticated` for a removed account.
   */
  async function create(account: Account, { wanted, address }: Creation): Promise<OwnRequest> {
    const recipient = wanted.recipient ?? (await findRecipient(account))
    if (recipient !== null) await requireRecipient(recipient)
    else if (limits.endToEnd === 'required')
      throw invalidFields({ recipient: [{ code: 'recipient_required' }] })
    const passphrase =
      wanted.passphrase === null ? null : await passphrases.derive(wanted.passphrase, address)
    const verifier = passphrase === null ? '' : verifierOf(passphrase.key)
    const urlToken = newUrlToken()
    const lookup = lookupOfRequest(urlToken, keyring.sealing.lookup)
    const place = { keyring, pushId: lookup, ownerId: account.id }
    const { acceptsText, acceptsFiles, maxAnswers, lifetime, showsSender } = wanted
    const createdAt = now()
    const stored = await store.requests.addRequest(
      {
        ...{ lookup, keyNumber: keyring.sealing.number, accountId: account.id, recipient },
        ...{ acceptsText, acceptsFiles, maxAnswers, answers: 0, showsSender },
        ...{ createdAt, expiresAt: createdAt + lifetime, closedAt: null },
        ...{ wrongTries: 0, wrongTriesSince: createdAt, wrongTriesInAll: 0 },
        ...sealTexts({ ...wanted, urlToken, verifier }, place),
        passphraseSalt: passphrase?.salt ?? null,
      },
      account.resets,
    )
    return present(stored)
  }

  /**
   * Resolves to an account's own age public key. Each new request without another key copies it, so that a
   * change affects no open request.
   */
  async function findRecipient({ id }: Account): Promise<string | null> {
    return (await store.preferences.find(id))?.recipient ?? null
  }

  /** Saves the account's key. An empty text removes it. Throws `invalid` for a key that cannot encrypt. */
  async function keepRecipient({ id: accountId }: Account, text: string): Promise<void> {
    const recipient = text.trim() || null
    if (recipient !== null) await requireRecipient(recipient)
    await store.preferences.keep({ accountId, recipient })
    log.info({ accountId, recipient }, 'an account has changed its age key')
  }

  function present(request: StoredRequest): OwnRequest {
    const passphraseRequired = request.passphraseSalt !== null
    return { request, ...openTexts(request, keyring), passphraseRequired, isOver: isOver(request, now()) }
  }

  /** Lists an account's requests, newest first, including closed ones until they are purged. */
  async function list({ id: accountId }: Account, pageNumber: number): Promise<PageOfRequests> {
    const listed = await store.requests.listRequests({ accountId, pageNumber })
    const requests = await keepIntact(listed, { open: present, report: store.damage.report })
    return { requests, damaged: listed.length - requests.length, isFull: listed.length === PAGE_SIZE }
  }

  /** Throws `not_found` unless the account owns the request. */
  async function get(account: Account, urlToken: string): Promise<OwnRequest> {
    return present(await findOwn(account, urlToken))
  }

  /**
   * Closes the link at once. Idempotent: leaves a closed or expired request unchanged. Throws as `get` does.
   */
  async function close(account: Account, urlToken: string): Promise<OwnRequest> {
    const { id } = await findOwn(account, urlToken)
    const closed = await store.requests.closeRequest({ id, accountId: account.id })
    if (closed === null) throw notFound()
    return present(closed)
  }

  async function findOwn({ id }: Account, urlToken: string): Promise<StoredRequest> {
    const request = await find(urlToken)
    if (request.accountId !== id) throw notFound()
    return request
  }

  /** Finds the request. Throws `not_found`. */
  async function find(urlToken: string): Promise<StoredRequest> {
    if (!isUrlToken(urlToken)) throw notFound()
    for (const { lookup } of keyring.keys) {
      const found = await store.requests.findRequest(lookupOfRequest(urlToken, lookup))
      if (found !== null) return found
    }
    throw notFound()
  }

  /**
   * Finds the request for a person who has its link; null if it accepts no more answers. Throws `not_found`.
   */
  async function findAsked(urlToken: string): Promise<AskedRequest | null> {
    const { request, message, passphraseRequired, isOver } = present(await find(urlToken))
    if (isOver) return null
    const { accountId, acceptsText, acceptsFiles, expiresAt, recipient, showsSender } = request
    const asked = { accountId, acceptsText, acceptsFiles, expiresAt, recipient, showsSender }
    return { urlToken, message, passphraseRequired, ...asked }
  }

  const beginAnswer = createBeginAnswer({ ...options, find })
  return { create, list, get, close, findAsked, beginAnswer, findRecipient, keepRecipient }
}

/** `address`: the owner's network address, which limits the queue of passphrases. */
type Creation = { wanted: NewRequest; address: string }
