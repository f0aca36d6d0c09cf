// Retrieving a push: the passphrase in turn, the view counted, and only then the payload.

import { type Opener, openSecrets } from '../../crypto/push-secrets.ts'
import type { Viewer } from '../../domain/audit.ts'
import { DamageError } from '../../domain/errors.ts'
import type { StoredFile } from '../../domain/files.ts'
import { isExpired, isLocked, isOwner, passphraseLockedFor } from '../../domain/push.ts'
import type { Now } from '../../domain/time.ts'
import type { LivePush, StoredPush } from '../../store/sqlite/pushes/pushes.ts'
import type { Store } from '../../store/store.ts'
import { type Asker, askerOf } from '../lanes.ts'
import type { Downloads } from './downloads.ts'
import { openFile } from './file-names.ts'
import { type Addressed, nameOf } from './owner-lists.ts'
import type { Passphrases } from './passphrases.ts'
import { notFound, type PushFinder } from './push-finder.ts'

/** A file and the sealed grant to download it. */
export type GrantedFile = StoredFile & { grant: string }

export type Retrieval =
  | (Addressed & { outcome: 'view'; payload: string; files: GrantedFile[] })
  | (Addressed & { outcome: 'expired' })
  | { outcome: 'passphrase_required' }
  /** The push is as the try left it: the last one that is allowed ends or locks it. */
  | (Addressed & { outcome: 'wrong_passphrase' })
  /** Too many wrong tries: nothing that carries a passphrase is looked at for so many milliseconds. */
  | { outcome: 'passphrase_locked'; lockedFor: number }
  /** Too many wrong tries in all: the same until its owner unlocks it. */
  | (Addressed & { outcome: 'locked' })

export type RetrieveOptions = {
  passphrase: string | null
  viewer: Viewer
  /** The owner's own look on the pages, which is not a view; anybody else's is one all the same. */
  ownLook: boolean
}

type Asking = Omit<RetrieveOptions, 'passphrase'>

export type RetrieveDependencies = {
  store: Pick<Store, 'pushes' | 'damage'>
  finder: PushFinder
  passphrases: Passphrases
  /** Wrong passphrases in all after which a push expires or is locked; 0 for no end. */
  maxWrongTries: number
  grant: Downloads['grant']
  now: Now
}

export function createRetrieve(options: RetrieveDependencies) {
  const { store, finder, passphrases, maxWrongTries, grant, now } = options
  const { lookUp, lookupsOf } = finder

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
    if (salt !== null && isLocked(push)) return { outcome: 'locked', push, urlToken }
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
  ): Promise<Extract<Retrieval, { outcome: 'view' | 'expired' }> | Closed> {
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
    const { visit } = viewer
    const refused = await store.pushes.refusePassphrase({
      id: push.id,
      visit,
      wrong,
      maxTries: maxWrongTries,
    })
    if (refused === null) throw notFound()
    const addressed = { push: refused.push, urlToken }
    if (refused.outcome === 'expired') return { outcome: 'expired', ...addressed }
    return wrong ? { outcome, ...addressed } : { outcome }
  }

  return retrieve
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
