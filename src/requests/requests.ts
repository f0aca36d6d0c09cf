// The use cases of a request's owner: make one, list them, close one. And what a stranger with its link sees.

import { isUrlToken, newUrlToken } from '../crypto/url-token.ts'
import type { Account } from '../domain/account.ts'
import { PAGE_SIZE } from '../domain/audit.ts'
import { keepIntact } from '../domain/damage.ts'
import { notFound } from '../domain/errors.ts'
import { isOver, type NewRequest, type SecretRequest } from '../domain/requests.ts'
import type { Store } from '../store/contract.ts'
import type { StoredRequest } from '../store/requests-contract.ts'
import { type AnsweringOptions, createBeginAnswer } from './answering.ts'
import { requireRecipient } from './recipient.ts'
import { lookupOfRequest, openTexts, sealTexts, verifierOf } from './request-texts.ts'

/** As its owner sees it. `isOver`: used up, closed, or past its time. */
export type OwnRequest = {
  request: SecretRequest
  urlToken: string
  name: string
  message: string
  passphraseRequired: boolean
  isOver: boolean
}

/** `damaged` counts requests that cannot be shown; after a full page there may be another. */
export type PageOfRequests = { requests: OwnRequest[]; damaged: number; isFull: boolean }

/** As whoever has the link sees it. */
export type AskedRequest = Pick<OwnRequest, 'urlToken' | 'message' | 'passphraseRequired'> &
  Pick<SecretRequest, 'acceptsText' | 'acceptsFiles' | 'expiresAt' | 'recipient'>

export type Requests = ReturnType<typeof createRequests>

export type RequestsOptions = Omit<AnsweringOptions, 'find'> & {
  store: Pick<Store, 'requests' | 'preferences' | 'damage'>
  /** Is told each change of an account's key, because whoever makes one reads later answers. */
  log: { info: (kept: { accountId: number; recipient: string | null }, message: string) => void }
}

export function createRequests(options: RequestsOptions) {
  const { store, keyring, passphrases, now, log } = options

  /**
   * Throws `invalid` for a recipient that nothing can be encrypted for, and `unauthenticated` for an account
   * that has ended.
   */
  async function create(account: Account, { wanted, address }: Creation): Promise<OwnRequest> {
    const recipient = wanted.recipient ?? (await findRecipient(account))
    if (recipient !== null) await requireRecipient(recipient)
    const passphrase =
      wanted.passphrase === null ? null : await passphrases.derive(wanted.passphrase, address)
    const verifier = passphrase === null ? '' : verifierOf(passphrase.key)
    const urlToken = newUrlToken()
    const lookup = lookupOfRequest(urlToken, keyring.sealing.lookup)
    const place = { keyring, pushId: lookup, ownerId: account.id }
    const { acceptsText, acceptsFiles, maxAnswers, lifetime } = wanted
    const createdAt = now()
    const stored = await store.requests.addRequest(
      {
        ...{ lookup, keyNumber: keyring.sealing.number, accountId: account.id, recipient },
        ...{ acceptsText, acceptsFiles, maxAnswers, answers: 0 },
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
   * An account's own public key of age. Each new request without another one copies it, so that a change
   * touches none that is open.
   */
  async function findRecipient({ id }: Account): Promise<string | null> {
    return (await store.preferences.find(id))?.recipient ?? null
  }

  /** An empty text removes it. Throws `invalid` for what nothing can be encrypted for. */
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

  /** Newest first, closed ones too, until they are purged. */
  async function list({ id: accountId }: Account, pageNumber: number): Promise<PageOfRequests> {
    const listed = await store.requests.listRequests({ accountId, pageNumber })
    const requests = await keepIntact(listed, { open: present, report: store.damage.report })
    return { requests, damaged: listed.length - requests.length, isFull: listed.length === PAGE_SIZE }
  }

  /** Throws `not_found` for everybody but its owner. */
  async function get(account: Account, urlToken: string): Promise<OwnRequest> {
    return present(await findOwn(account, urlToken))
  }

  /** Ends its link at once. One that is over stays as it is. Throws as `get` does. */
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

  /** Throws `not_found`. */
  async function find(urlToken: string): Promise<StoredRequest> {
    if (!isUrlToken(urlToken)) throw notFound()
    for (const { lookup } of keyring.keys) {
      const found = await store.requests.findRequest(lookupOfRequest(urlToken, lookup))
      if (found !== null) return found
    }
    throw notFound()
  }

  /** For whoever has the link; null for one that takes no answer any more. Throws `not_found`. */
  async function findAsked(urlToken: string): Promise<AskedRequest | null> {
    const { request, message, passphraseRequired, isOver } = present(await find(urlToken))
    if (isOver) return null
    const { acceptsText, acceptsFiles, expiresAt, recipient } = request
    return { urlToken, message, passphraseRequired, acceptsText, acceptsFiles, expiresAt, recipient }
  }

  const beginAnswer = createBeginAnswer({ ...options, find })
  return { create, list, get, close, findAsked, beginAnswer, findRecipient, keepRecipient }
}

/** `address`: the owner's, by which passphrases take turns. */
type Creation = { wanted: NewRequest; address: string }
