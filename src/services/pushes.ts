// The use cases of a push: create, preview, retrieve, audit, expire, list. Decides, then calls the store.

import type { InstanceKey, Keyring } from '../crypto/keyring.ts'
import { openSecrets, type SealedSecrets, sealSecrets } from '../crypto/push-secrets.ts'
import { isUrlToken, lookupOf, newUrlToken } from '../crypto/url-token.ts'
import type { Account } from '../domain/account.ts'
import type { AuditEntry, Viewer, Visit } from '../domain/audit.ts'
import { DomainError } from '../domain/errors.ts'
import type { NewPush } from '../domain/new-push.ts'
import { canExpire, isExpired, isOwner, type Push, passphraseLockedFor } from '../domain/push.ts'
import type { Now } from '../domain/time.ts'
import type { StoredPush } from '../store/pushes.ts'
import type { Store } from '../store/store.ts'
import { openLabels, sealLabels } from './labels.ts'
import type { Passphrases } from './passphrases.ts'

/** A push with the token of its link, which only the caller and the owner ever hold. */
export type Addressed = { push: Push; urlToken: string }

export type Labelled = Addressed & { name: string; note: string }

export type Retrieval =
  | (Addressed & { outcome: 'view'; payload: string })
  | (Addressed & { outcome: 'expired' })
  | { outcome: 'passphrase_required' }
  | { outcome: 'wrong_passphrase' }
  /** Too many wrong tries: nothing that carries a passphrase is looked at for so many milliseconds. */
  | { outcome: 'passphrase_locked'; lockedFor: number }

export type Pushes = ReturnType<typeof createPushes>

export type PushesOptions = {
  store: Pick<Store, 'pushes' | 'lists' | 'audit' | 'expiry' | 'freeSpace'>
  keyring: Keyring
  passphrases: Passphrases
  now: Now
}

export function createPushes({ store, keyring, passphrases, now }: PushesOptions) {
  /** Name and note of an anonymous push come back in the answer and are not kept: nobody could ever read them. */
  async function create(wanted: NewPush, { account, visit }: Viewer): Promise<Labelled> {
    await store.freeSpace.require()
    const instanceKey = keyring.sealing
    const urlToken = newUrlToken()
    const lookup = lookupOf(urlToken, instanceKey.lookup)
    const passphrase = wanted.passphrase === null ? null : await passphrases.derive(wanted.passphrase)
    const opener = { instanceKey, pushId: lookup, urlToken, passphraseKey: passphrase?.key ?? null }
    const secrets = { ...sealSecrets(wanted.payload, opener), passphraseSalt: passphrase?.salt ?? null }
    const labels =
      account === null ? null : sealLabels({ ...wanted, urlToken }, { instanceKey, pushId: lookup })
    const push = begin(wanted, account, now())
    const stored = { push, lookup, keyNumber: instanceKey.number, secrets, labels, visit }
    return { push: await store.pushes.createPush(stored), urlToken, name: wanted.name, note: wanted.note }
  }

  /** For the link alone: never a view. */
  function preview(urlToken: string): Addressed {
    return { push: getPush(urlToken).push, urlToken }
  }

  /** Hands out the payload only after the view has been counted durably. */
  async function retrieve(urlToken: string, passphrase: string | null, visit: Visit): Promise<Retrieval> {
    const found = getSealedPush(urlToken)
    if (found.secrets === null) return claim(found, visit, null)
    if (!found.push.passphraseRequired)
      return claim(found, visit, requireOpened(openWith(found.secrets, found, null)))
    if (passphrase === null) return refuse(found, visit, 'passphrase_required')
    return passphrases.inTurn(found.push.id, () => tryPassphrase(urlToken, passphrase, visit))
  }

  /** One try at a time on one push; what was true before waiting is read again. */
  async function tryPassphrase(urlToken: string, passphrase: string, visit: Visit): Promise<Retrieval> {
    const found = getSealedPush(urlToken)
    const { push, secrets } = found
    if (secrets === null || secrets.passphraseSalt === null) return claim(found, visit, null)
    const lockedFor = passphraseLockedFor(push, now())
    if (lockedFor > 0) return { outcome: 'passphrase_locked', lockedFor }
    const { key } = await passphrases.derive(passphrase, secrets.passphraseSalt)
    const payload = openWith(secrets, found, key)
    return payload === null ? refuse(found, visit, 'wrong_passphrase') : claim(found, visit, payload)
  }

  /** `payload` is null when the push was seen to be expired, which the claim then writes down. */
  async function claim({ urlToken, push }: Found, visit: Visit, payload: string | null): Promise<Retrieval> {
    const claimed = await store.pushes.claimView({ id: push.id, visit })
    if (claimed === null) throw notFound()
    if (claimed.outcome === 'expired') return { outcome: 'expired', push: claimed.push, urlToken }
    return { outcome: 'view', push: claimed.push, urlToken, payload: requireOpened(payload) }
  }

  type Refusal = 'passphrase_required' | 'wrong_passphrase'

  async function refuse({ urlToken, push }: Found, visit: Visit, outcome: Refusal): Promise<Retrieval> {
    const wrong = outcome === 'wrong_passphrase'
    const refused = await store.pushes.refusePassphrase({ id: push.id, visit, wrong })
    if (refused === null) throw notFound()
    return refused.outcome === 'expired' ? { outcome: 'expired', push: refused.push, urlToken } : { outcome }
  }

  /** The caller may read the log: its owner, nobody else. */
  function requireOwner(urlToken: string, { account }: Viewer): void {
    if (!isOwner(getPush(urlToken).push, account)) {
      throw new DomainError('forbidden', 'Only the owner of this push may read its audit log.')
    }
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
  async function list(account: Account, { expired, pageNumber }: { expired: boolean; pageNumber: number }) {
    while (store.expiry.hasLapsed()) await store.expiry.expireLapsed()
    return store.lists.listPushes({ ownerId: account.id, expired, pageNumber }).map(({ push, labels }) => {
      const instanceKey = getKey(push.keyNumber)
      return { push, ...openLabels(labels, { instanceKey, pushId: push.lookup }) }
    })
  }

  type Found = { push: StoredPush; urlToken: string; instanceKey: InstanceKey }

  function getPush(urlToken: string): Found {
    return lookUp(urlToken, (lookup) => {
      const push = store.pushes.findPush(lookup)
      return push === null ? null : { push }
    })
  }

  /** `secrets` is null also when the time has passed and nobody has written it down yet. */
  function getSealedPush(urlToken: string): Found & { secrets: SealedSecrets | null } {
    const found = lookUp(urlToken, store.pushes.findSealedPush)
    return isExpired(found.push, now()) ? { ...found, secrets: null } : found
  }

  /** Under whichever key of the file the push was made. */
  function lookUp<T>(urlToken: string, find: (lookup: Uint8Array) => T | null) {
    if (!isUrlToken(urlToken)) throw notFound()
    for (const instanceKey of keyring.keys) {
      const found = find(lookupOf(urlToken, instanceKey.lookup))
      if (found !== null) return { ...found, urlToken, instanceKey }
    }
    throw notFound()
  }

  function openWith(
    secrets: SealedSecrets,
    { push, urlToken, instanceKey }: Found,
    passphraseKey: Uint8Array | null,
  ) {
    return openSecrets(secrets, { instanceKey, pushId: push.lookup, urlToken, passphraseKey })
  }

  function getKey(number: number): InstanceKey {
    const key = keyring.keys.find((candidate) => candidate.number === number)
    if (key === undefined) throw new Error(`a push names key ${number}, which the key file does not hold`)
    return key
  }

  return { create, preview, retrieve, requireOwner, audit, expire, list }
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

/** A live push that its own link does not open was altered on disk. */
function requireOpened(payload: string | null): string {
  if (payload === null) throw new Error('a push does not open with its own link: the database was altered')
  return payload
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
