// The use cases of a push: create, preview, retrieve, audit, expire, list. Decides, then calls the store.

import type { Keyring } from '../crypto/keyring.ts'
import type { Account } from '../domain/account.ts'
import { countMissing, type Viewer } from '../domain/audit.ts'
import { DomainError, notFound, nullIfMissing } from '../domain/errors.ts'
import { isUnseen } from '../domain/listing.ts'
import { isExpired, isOwner, mayExpire, type Push } from '../domain/push.ts'
import type { Store } from '../store/contract.ts'
import type { StoredPush } from '../store/pushes-contract.ts'
import { createCodes } from './codes.ts'
import { createCreatePush } from './create-push.ts'
import { openLabels, placeOfPush } from './labels.ts'
import type { ShareOf, ShortTokens } from './limits.ts'
import type { LinkMails } from './link-mails.ts'
import { createOwnerActs } from './owner-acts.ts'
import { createOwnerExport, type OpenLog } from './owner-export.ts'
import {
  createOwnerLists,
  type LabelledPush,
  type LinkedPush,
  type ListOptions,
  readTime,
} from './owner-lists.ts'
import { createPushFinder } from './push-finder.ts'
import { createRetrieve, type RetrieveDependencies } from './retrieval.ts'

/** The length of a log, and the numbers of visits that are not in it. */
export type LogFacts = { entries: number; missing: ReturnType<typeof countMissing> }

/**
 * A push as its owner sees it. `isUnseen` and `readAt` are as in an overview; `namesRecipient`: whether the
 * name was entered as that of the recipient.
 */
export type PushDetails = LabelledPush & {
  isUnseen: boolean
  readAt: number | null
  namesRecipient: boolean
  /** The code beside the link of a live push; null without one. */
  code: string | null
  log: LogFacts & OpenLog
  hasGrants: boolean
}

export type Pushes = ReturnType<typeof createPushes>

type PushesOptions = Omit<RetrieveDependencies, 'store' | 'finder'> & {
  store: Pick<Store, 'pushes' | 'lists' | 'audit' | 'expiry' | 'files' | 'freeSpace' | 'damage' | 'bucket'>
  keyring: Keyring
  shareOf: ShareOf
  linkMails: LinkMails
  shortTokens: ShortTokens
}

export function createPushes(options: PushesOptions) {
  const { store, keyring, shortTokens } = options
  const {
    overview,
    listAnswers,
    hasOwned,
    list: listOwn,
  } = createOwnerLists({ store, keyring, now: options.now })
  const create = createCreatePush(options)
  const finder = createPushFinder({ store, keyring, shortTokens })
  const { getPush, getOwnPush } = finder
  const retrieve = createRetrieve({ ...options, finder })
  const { findCode, checkCode } = createCodes({ store, finder })

  /** Checks that the link exists. Shows nothing, so it is never a view. */
  async function preview(urlToken: string, { visit }: Viewer): Promise<LinkedPush> {
    return { push: (await getPush(urlToken, visit)).push, urlToken }
  }

  /** Opens the audit log for the owner. Throws `not_found`, and `forbidden` for anyone else. */
  async function openLog(urlToken: string, viewer: Viewer): Promise<OpenLog> {
    return logOf((await finder.getOwn(urlToken, viewer, 'read its audit log')).push)
  }

  function logOf(push: StoredPush): OpenLog {
    return {
      listPage: (pageNumber) => store.audit.listPage(push, pageNumber),
      readAll: () => store.audit.readAll(push),
    }
  }

  /** Returns a push with its labels to its owner. Throws `not_found` for anyone else. */
  async function getOwned(urlToken: string, account: Account): Promise<PushDetails> {
    const push = await getOwnPush(urlToken, account)
    const labels = await store.lists.findLabels(push.id)
    if (labels === null) throw notFound()
    const facts = { entries: push.auditEntries, missing: countMissing(push) }
    const opened = openLabels(labels, placeOfPush(push, keyring))
    const hasGrants = await store.pushes.hasGrants(push)
    const { namesRecipient } = labels
    const looks = { isUnseen: isUnseen({ ...push, ...labels }), readAt: readTime(push, labels.readAt) }
    const code = push.codeRequired && !isExpired(push, options.now()) ? await findCode(urlToken, null) : null
    return { push, ...opened, namesRecipient, ...looks, code, log: { ...facts, ...logOf(push) }, hasGrants }
  }

  /** Whether a push arrived as the answer to a request. */
  async function isAnswer(urlToken: string, { visit }: Viewer): Promise<boolean> {
    const { push } = await getPush(urlToken, visit)
    const labels = push.ownerId === null ? null : await store.lists.findLabels(push.id)
    return labels !== null && labels.request !== null
  }

  async function expire(urlToken: string, { account, visit }: Viewer): Promise<LinkedPush> {
    const { push } = await getPush(urlToken, visit)
    if (!mayExpire(push, account)) throw mayNotExpire(account)
    const expired = await store.pushes.expirePush({ id: push.id, visit, isByOwner: isOwner(push, account) })
    if (expired === null) throw notFound()
    return { push: expired, urlToken }
  }

  /** Lets the owner unlock a push after too many wrong passphrases. Throws `not_found` for anyone else. */
  async function unlock(urlToken: string, { account, visit }: Viewer): Promise<void> {
    const { id } = await getOwnPush(urlToken, account)
    if ((await store.pushes.unlockPush({ id, visit })) === null) throw notFound()
  }

  /** Returns the push of a mail in the outbox; null when it is expired or gone. */
  async function findToMail(urlToken: string): Promise<Push | null> {
    const found = await getPush(urlToken, null).catch(nullIfMissing)
    return found === null || isExpired(found.push, options.now()) ? null : found.push
  }

  type PageRequest = Pick<ListOptions, 'expired' | 'pageNumber'> & { before: string | null }

  /**
   * Lists pushes. If `before` is the token of a push, lists only older ones. Throws `not_found` if the
   * account does not own that push.
   */
  async function list(account: Account, { before, ...asked }: PageRequest) {
    const beforeId = before === null ? null : (await getOwnPush(before, account)).id
    return listOwn(account, { ...asked, beforeId })
  }

  const exporting = createOwnerExport({ list: listOwn, logOf })
  return {
    ...createOwnerActs({ ...options, finder }),
    findToMail,
    create,
    preview,
    findCode,
    checkCode,
    retrieve,
    openLog,
    getOwned,
    expire,
    unlock,
    list,
    overview,
    listAnswers,
    isAnswer,
    countUnseen: ({ id }: Account) => store.lists.countUnseen(id),
    hasOwned,
    ...exporting,
  }
}

function mayNotExpire(account: Account | null): DomainError {
  return account === null
    ? new DomainError(
        'unauthenticated',
        'This push may only be deleted by its owner: an API token is needed.',
      )
    : new DomainError('forbidden', 'This push is not yours, and its recipients may not delete it.')
}
