// The use cases of a push: create, preview, retrieve, audit, expire, list. Decides, then calls the store.

import type { InstanceKey, Keyring } from '../crypto/keyring.ts'
import { type Opener, openSecrets } from '../crypto/push-secrets.ts'
import { isUrlToken, lookupOf } from '../crypto/url-token.ts'
import type { Account } from '../domain/account.ts'
import type { AuditEntry, Viewer } from '../domain/audit.ts'
import { DamageError, DomainError } from '../domain/errors.ts'
import type { StoredFile } from '../domain/files.ts'
import { canExpire, isExpired, isOwner, passphraseLockedFor } from '../domain/push.ts'
import type { Now } from '../domain/time.ts'
import type { LivePush, StoredPush } from '../store/pushes.ts'
import type { Store } from '../store/store.ts'
import { createCreatePush } from './create-push.ts'
import type { Downloads } from './downloads.ts'
import { openFile } from './file-names.ts'
import { openLabels } from './labels.ts'
import { type Asker, askerOf } from './lanes.ts'
import { type Addressed, createOwnerLists, type Labelled, nameOf } from './owner-lists.ts'
import type { Passphrases } from './passphrases.ts'

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

type Asking = Omit<RetrieveOptions, 'passphrase'>

export type Pushes = ReturnType<typeof createPushes>

export type PushesOptions = {
  store: Pick<Store, 'pushes' | 'lists' | 'audit' | 'expiry' | 'freeSpace' | 'damage'>
  keyring: Keyring
  passphrases: Passphrases
  grant: Downloads['grant']
  now: Now
}

export function createPushes({ store, keyring, passphrases, grant, now }: PushesOptions) {
  const lists = createOwnerLists({ store, keyring })
  const create = createCreatePush({ store, keyring, passphrases, now })

  /** For the link alone: never a view. */
  function preview(urlToken: string): Addressed {
    return { push: getPush(urlToken).push, urlToken }
  }

  /** Hands out the payload only after the view has been counted durably. */
  async function retrieve(urlToken: string, { passphrase, ...asking }: RetrieveOptions): Promise<Retrieval> {
    const claimed = await claim(urlToken, asking, null)
    if (claimed.outcome !== 'closed') return claimed
    if (passphrase === null) return refuse(claimed, asking, 'passphrase_required')
    const { id } = claimed.push
    const asker = askerOf(asking.viewer, `push ${id}`)
    return passphrases.inTurn(id, asker, () => tryPassphrase(urlToken, passphrase, { ...asking, asker }))
  }

  /** One try at a time on one push; what was true before waiting is read again. */
  async function tryPassphrase(
    urlToken: string,
    passphrase: string,
    { asker, ...asking }: Asking & { asker: Asker },
  ): Promise<Retrieval> {
    const { push, secrets } = lookUp(urlToken, store.pushes.findSealedPush)
    const salt = isExpired(push, now()) ? null : (secrets?.passphraseSalt ?? null)
    const lockedFor = salt === null ? 0 : passphraseLockedFor(push, now())
    if (lockedFor > 0) return { outcome: 'passphrase_locked', lockedFor }
    const key = salt === null ? null : (await passphrases.derive(passphrase, asker, salt)).key
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
        if (content !== null) tellOfLost(live, content.payload)
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

  /** Of what is left of a push others may want the rest; when nothing is, no view is counted. */
  function tellOfLost({ push, files }: LivePush, payload: string): void {
    const lost = files.filter(({ isThere }) => !isThere)
    if (lost.length === 0) return
    const damage = new DamageError(`a file of push ${push.id}`)
    if (payload === '' && lost.length === files.length) throw damage
    store.damage.tell(damage)
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
  ): Labelled & { auditEntries: number; auditDropped: number; hasGrants: boolean } {
    const { push, instanceKey } = getPush(urlToken)
    const labels = isOwner(push, account) ? store.lists.findLabels(push.id) : null
    if (labels === null) throw notFound()
    const { auditEntries, auditDropped } = push
    const opened = openLabels(labels, { instanceKey, pushId: push.lookup, pushName: nameOf(push) })
    return { push, ...opened, auditEntries, auditDropped, hasGrants: store.pushes.hasGrants(push) }
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

  return { create, preview, retrieve, requireOwner, audit, auditAll, getOwned, expire, ...lists }
}

/** Null without the right passphrase. A push that its own link does not open was altered on disk. */
function openPush({ push, secrets, files }: LivePush, opener: Opener) {
  if (push.passphraseRequired && opener.passphraseKey === null) return null
  const opened = openSecrets(secrets, opener)
  if (opened === null) {
    if (push.passphraseRequired) return null
    throw new DamageError(nameOf(push))
  }
  const { payload, dataKey } = opened
  if (payload === null) throw new DamageError(nameOf(push))
  const { lookup: pushId, keyNumber } = push
  const place = { pushId, dataKey, keyNumber, pushName: nameOf(push) }
  return { payload, dataKey, files: files.map((file) => openFile(file, place)) }
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
