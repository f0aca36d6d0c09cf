// The use cases of a push: create, preview, retrieve, audit, expire, list. Decides, then calls the store.

import type { InstanceKey, Keyring } from '../crypto/keyring.ts'
import { type Opener, openSecrets, sealSecrets } from '../crypto/push-secrets.ts'
import { isUrlToken, lookupOf, newUrlToken } from '../crypto/url-token.ts'
import type { Account } from '../domain/account.ts'
import { type AuditEntry, PAGE_SIZE, type Viewer } from '../domain/audit.ts'
import { DomainError } from '../domain/errors.ts'
import type { StoredFile } from '../domain/files.ts'
import type { NewPush } from '../domain/new-push.ts'
import { canExpire, isExpired, isOwner, type Push, passphraseLockedFor } from '../domain/push.ts'
import type { Now } from '../domain/time.ts'
import type { ListedPush } from '../store/push-lists.ts'
import type { LivePush, StoredPush } from '../store/pushes.ts'
import type { Store } from '../store/store.ts'
import type { Downloads } from './downloads.ts'
import { openFile, sealFile } from './file-names.ts'
import { openLabels, sealLabels } from './labels.ts'
import type { Passphrases } from './passphrases.ts'
import type { Upload } from './uploads.ts'

/** A push with the token of its link, which only the caller and the owner ever hold. */
export type Addressed = { push: Push; urlToken: string }

export type Labelled = Addressed & { name: string; note: string }

export type Created = Labelled & { files: readonly StoredFile[] }

/** A file and the sealed grant to download it. */
export type GrantedFile = StoredFile & { grant: string }

export type Retrieval =
  | (Addressed & { outcome: 'view'; payload: string; files: GrantedFile[] })
  | (Addressed & { outcome: 'expired' })
  | { outcome: 'passphrase_required' }
  | { outcome: 'wrong_passphrase' }
  /** Too many wrong tries: nothing that carries a passphrase is looked at for so many milliseconds. */
  | { outcome: 'passphrase_locked'; lockedFor: number }

export type RetrieveOptions = {
  passphrase: string | null
  viewer: Viewer
  /** The owner's own look on the pages, which is not a view; anybody else's is one all the same. */
  ownLook: boolean
}

export type ListOptions = { expired: boolean; pageNumber: number }

type Asking = Omit<RetrieveOptions, 'passphrase'>

/** As many as a search opens at most: 10,000 pushes. */
const MAX_SEARCHED_PAGES = 200

export type Pushes = ReturnType<typeof createPushes>

export type PushesOptions = {
  store: Pick<Store, 'pushes' | 'lists' | 'audit' | 'expiry' | 'freeSpace'>
  keyring: Keyring
  passphrases: Passphrases
  grant: Downloads['grant']
  now: Now
}

export function createPushes({ store, keyring, passphrases, grant, now }: PushesOptions) {
  /** Name and note of an anonymous push come back in the answer and are not kept: nobody could ever read them. */
  async function create(wanted: NewPush, { account, visit }: Viewer, upload: Upload): Promise<Created> {
    await store.freeSpace.require()
    const instanceKey = keyring.sealing
    const urlToken = newUrlToken()
    const lookup = lookupOf(urlToken, instanceKey.lookup)
    const passphrase = wanted.passphrase === null ? null : await passphrases.derive(wanted.passphrase)
    const opener = { instanceKey, pushId: lookup, urlToken, passphraseKey: passphrase?.key ?? null }
    const { dataKey } = upload
    const files = upload.listFiles()
    const sealed = sealSecrets({ payload: wanted.payload, dataKey }, opener)
    const secrets = { ...sealed, passphraseSalt: passphrase?.salt ?? null }
    const labels =
      account === null ? null : sealLabels({ ...wanted, urlToken }, { instanceKey, pushId: lookup })
    const push = begin(wanted, account, now())
    const keyNumber = instanceKey.number
    const sealedFiles = files.map((file) => sealFile(file, { pushId: lookup, dataKey, keyNumber }))
    const stored = { push, lookup, keyNumber, secrets, labels, files: sealedFiles, visit }
    const { name, note } = wanted
    return { push: await store.pushes.createPush(stored), urlToken, name, note, files }
  }

  /** For the link alone: never a view. */
  function preview(urlToken: string): Addressed {
    return { push: getPush(urlToken).push, urlToken }
  }

  /** Hands out the payload only after the view has been counted durably. */
  async function retrieve(urlToken: string, { passphrase, ...asking }: RetrieveOptions): Promise<Retrieval> {
    const claimed = await claim(urlToken, asking, null)
    if (claimed.outcome !== 'closed') return claimed
    if (passphrase === null) return refuse(claimed, asking, 'passphrase_required')
    return passphrases.inTurn(claimed.push.id, () => tryPassphrase(urlToken, passphrase, asking))
  }

  /** One try at a time on one push; what was true before waiting is read again. */
  async function tryPassphrase(urlToken: string, passphrase: string, asking: Asking): Promise<Retrieval> {
    const { push, secrets } = lookUp(urlToken, store.pushes.findSealedPush)
    const salt = isExpired(push, now()) ? null : (secrets?.passphraseSalt ?? null)
    const lockedFor = salt === null ? 0 : passphraseLockedFor(push, now())
    if (lockedFor > 0) return { outcome: 'passphrase_locked', lockedFor }
    const key = salt === null ? null : (await passphrases.derive(passphrase, salt)).key
    const claimed = await claim(urlToken, asking, key)
    return claimed.outcome === 'closed' ? refuse(claimed, asking, 'wrong_passphrase') : claimed
  }

  type Closed = Addressed & { outcome: 'closed'; push: StoredPush }

  /** Closed: it needs a passphrase, and none or a wrong one was given. */
  async function claim(
    urlToken: string,
    { viewer, ownLook }: Asking,
    passphraseKey: Uint8Array | null,
  ): Promise<Exclude<Retrieval, { outcome: `passphrase_${string}` | 'wrong_passphrase' }> | Closed> {
    for (const { instanceKey, lookup } of lookupsOf(urlToken)) {
      const opener = { instanceKey, pushId: lookup, urlToken, passphraseKey }
      const open = (live: LivePush) => {
        const content = openPush(live, opener)
        return content && { content, isOwnLook: ownLook && isOwner(live.push, viewer.account) }
      }
      const claimed = await store.pushes.claimView({ lookup, visit: viewer.visit, open })
      if (claimed === null) continue
      if (claimed.outcome !== 'view') return { outcome: claimed.outcome, push: claimed.push, urlToken }
      const { push, content } = claimed
      const { payload, dataKey } = content
      const options = { lookup, dataKey, viewedAt: now() }
      const files = content.files.map((file) => ({ ...file, grant: grant(file, options) }))
      return { outcome: 'view', push, urlToken, payload, files }
    }
    throw notFound()
  }

  type Refusal = 'passphrase_required' | 'wrong_passphrase'

  async function refuse(
    { urlToken, push }: Closed,
    { viewer }: Asking,
    outcome: Refusal,
  ): Promise<Retrieval> {
    const wrong = outcome === 'wrong_passphrase'
    const refused = await store.pushes.refusePassphrase({ id: push.id, visit: viewer.visit, wrong })
    if (refused === null) throw notFound()
    return refused.outcome === 'expired' ? { outcome: 'expired', push: refused.push, urlToken } : { outcome }
  }

  /** The caller may read the log: its owner, nobody else. */
  function requireOwner(urlToken: string, { account }: Viewer): void {
    if (!isOwner(getPush(urlToken).push, account)) {
      throw new DomainError('forbidden', 'Only the owner of this push may read its audit log.')
    }
  }

  /** The whole log, for its owner to take along. */
  function auditAll(urlToken: string, viewer: Viewer): AuditEntry[] {
    requireOwner(urlToken, viewer)
    return store.audit.listAll(getPush(urlToken).push)
  }

  /** With name and note, for its owner alone. Throws `not_found` for everybody else. */
  function getOwned(
    urlToken: string,
    account: Account,
  ): Labelled & { auditEntries: number; auditDropped: number } {
    const { push, instanceKey } = getPush(urlToken)
    const labels = isOwner(push, account) ? store.lists.findLabels(push.id) : null
    if (labels === null) throw notFound()
    const { auditEntries, auditDropped } = push
    return { push, ...openLabels(labels, { instanceKey, pushId: push.lookup }), auditEntries, auditDropped }
  }

  function audit(urlToken: string, pageNumber: number): AuditEntry[] {
    return store.audit.listPage(getPush(urlToken).push, pageNumber)
  }

  async function expire(urlToken: string, { account, visit }: Viewer): Promise<Addressed> {
    const { push } = getPush(urlToken)
    if (!canExpire(push, account)) throw mayNotExpire(account)
    const expired = await store.pushes.expirePush({ id: push.id, visit })
    if (expired === null) throw notFound()
    return { push: expired, urlToken }
  }

  /** Newest first. What ran out of time is moved to the expired ones before anybody looks. */
  async function list(account: Account, { expired, pageNumber }: ListOptions): Promise<Labelled[]> {
    while (store.expiry.hasLapsed()) await store.expiry.expireLapsed()
    return store.lists.listPushes({ ownerId: account.id, expired, pageNumber }).map(label)
  }

  function label({ push, labels }: ListedPush): Labelled {
    return { push, ...openLabels(labels, { instanceKey: getKey(push.keyNumber), pushId: push.lookup }) }
  }

  /**
   * One page of those whose name or note holds the words, newest first. Names are sealed, so each is opened to be looked
   * at, a page at a time, with room for other requests between.
   */
  async function search(account: Account, { expired, pageNumber, query }: ListOptions & { query: string }) {
    const words = query.toLowerCase().split(/\s+/)
    const fits = ({ name, note }: Labelled) => {
      const text = `${name} ${note}`.toLowerCase()
      return words.every((word) => text.includes(word))
    }
    const found: Labelled[] = []
    for (let page = 1; page <= MAX_SEARCHED_PAGES && found.length <= pageNumber * PAGE_SIZE; page += 1) {
      const listed = await list(account, { expired, pageNumber: page })
      found.push(...listed.filter(fits))
      if (listed.length < PAGE_SIZE) break
      await new Promise((resolve) => setImmediate(resolve))
    }
    return found.slice((pageNumber - 1) * PAGE_SIZE, pageNumber * PAGE_SIZE)
  }

  type Found = { push: StoredPush; urlToken: string; instanceKey: InstanceKey }

  function getPush(urlToken: string): Found {
    return lookUp(urlToken, (lookup) => {
      const push = store.pushes.findPush(lookup)
      return push === null ? null : { push }
    })
  }

  function lookUp<T>(urlToken: string, find: (lookup: Uint8Array) => T | null) {
    for (const { instanceKey, lookup } of lookupsOf(urlToken)) {
      const found = find(lookup)
      if (found !== null) return { ...found, urlToken, instanceKey }
    }
    throw notFound()
  }

  /** Where a push may be found, under whichever key of the file it was made. */
  function lookupsOf(urlToken: string): { instanceKey: InstanceKey; lookup: Buffer }[] {
    if (!isUrlToken(urlToken)) throw notFound()
    return keyring.keys.map((instanceKey) => ({
      instanceKey,
      lookup: lookupOf(urlToken, instanceKey.lookup),
    }))
  }

  function getKey(number: number): InstanceKey {
    const key = keyring.keys.find((candidate) => candidate.number === number)
    if (key === undefined) throw new Error(`a push names key ${number}, which the key file does not hold`)
    return key
  }

  return { create, preview, retrieve, requireOwner, audit, auditAll, getOwned, expire, list, search }
}

function begin(wanted: NewPush, account: Account | null, now: number): Push {
  const { kind, expireAfterDays, expireAfterViews, deletableByViewer, retrievalStep } = wanted
  return {
    kind,
    ownerId: account?.id ?? null,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + wanted.lifetime,
    expireAfterDays,
    expireAfterViews,
    views: 0,
    deletableByViewer,
    retrievalStep,
    passphraseRequired: wanted.passphrase !== null,
    wrongTries: 0,
    wrongTriesSince: now,
    expiredOn: null,
    deleted: false,
  }
}

/** Null without the right passphrase. A push that its own link does not open was altered on disk. */
function openPush({ push, secrets, files }: LivePush, opener: Opener) {
  if (push.passphraseRequired && opener.passphraseKey === null) return null
  const opened = openSecrets(secrets, opener)
  if (opened === null) {
    if (push.passphraseRequired) return null
    throw new Error('a push does not open with its own link: the database was altered')
  }
  const { lookup: pushId, keyNumber } = push
  const { dataKey } = opened
  return { ...opened, files: files.map((file) => openFile(file, { pushId, dataKey, keyNumber })) }
}

function notFound(): DomainError {
  return new DomainError('not_found', 'not-found')
}

function mayNotExpire(account: Account | null): DomainError {
  return account === null
    ? new DomainError(
        'unauthenticated',
        'This push may only be deleted by its owner: an API token is needed.',
      )
    : new DomainError('forbidden', 'This push is not yours, and its viewers may not delete it.')
}
