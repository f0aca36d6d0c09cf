// Retrieves a push: finds it, opens it, claims a view, and only then hands out the content.

import type { Account } from '../domain/account.ts'
import type { Viewer } from '../domain/audit.ts'
import { type DamageError, notFound, rethrowWithoutDoubt } from '../domain/errors.ts'
import type { PageNonce } from '../domain/page-nonce.ts'
import type { Store } from '../store/contract.ts'
import type { SealedPush } from '../store/pushes-contract.ts'
import { type Content, openPush } from './content.ts'
import type { Downloads, GrantedArchive, GrantedFile } from './downloads.ts'
import { damageOfFile } from './granted-files.ts'
import type { LinkedPush } from './owner-lists.ts'
import {
  createPassphraseTries,
  type PassphraseTriesOptions,
  presentLimit,
  type RetrievalRefusal,
} from './passphrase-tries.ts'
import type { FoundPush } from './push-finder.ts'

export type Retrieval =
  | (LinkedPush & { outcome: 'view' } & RetrievedContent)
  | { outcome: 'passphrase_required' }
  | RetrievalRefusal

/**
 * The content of a push. `archives` contain all files; there are none for a single file, or if a file is
 * missing.
 */
type RetrievedContent = { payload: string; files: RetrievedFile[]; archives: GrantedArchive[] }

/** A file of a retrieved push. `isThere` is false for a lost one. */
export type RetrievedFile = GrantedFile & { isThere: boolean }

export type RetrieveOptions = {
  passphrase: string | null
  viewer: Viewer
  /**
   * Whether the request comes from the owner's pages. It is no view if the owner sends it, and a view if
   * anyone else does.
   */
  ownLook: boolean
  /**
   * A nonce that the view uses up: `retrieve` throws `conflict` if it was used before. Only pages send one.
   */
  nonce?: PageNonce
  /** Called with the size of the payload before a view is counted. If it throws, no view is counted. */
  makeRoom: (bytes: number) => void
}

export type RetrieveDependencies = PassphraseTriesOptions & {
  store: Pick<Store, 'pushes' | 'files' | 'damage' | 'bucket'>
  grantAll: Downloads['grantAll']
}

type ViewOptions = Pick<RetrieveOptions, 'viewer' | 'makeRoom'> & {
  lookBy: Account | null
  nonce: PageNonce | null
}

export function createRetrieve(options: RetrieveDependencies) {
  const { store, finder, grantAll, now } = options
  const { openWithPassphrase } = createPassphraseTries(options)

  /** Hands out the payload only after the view has been counted durably. */
  async function retrieve(urlToken: string, options: RetrieveOptions): Promise<Retrieval> {
    const { passphrase, viewer, ownLook, nonce = null, makeRoom } = options
    const lookBy = ownLook ? viewer.account : null
    const asking = { viewer, nonce, makeRoom, lookBy }
    if (passphrase !== null) return retrieveWith(passphrase, { urlToken, ...asking })
    // Count misses of short tokens.
    const isThere = finder.requireShort(urlToken, viewer.visit)
    if (isThere !== null) await isThere
    for (const { instanceKey, lookup } of finder.lookupsOf(urlToken)) {
      const open = (found: SealedPush) => {
        const content = openPush({ ...found, urlToken, instanceKey }, null)
        makeRoom(sizeOf(content))
        return content
      }
      const { visit, account } = viewer
      const by = account?.id ?? null
      const claimed = await store.pushes.claimPlain({ lookup, visit, by, lookBy, nonce, open })
      if (claimed === null) continue
      if (claimed.outcome === 'passphrase_required') return { outcome: claimed.outcome }
      if (claimed.outcome === 'has_files') {
        const found = { push: claimed.push, sealed: claimed.sealed, urlToken, instanceKey }
        return claim(found, openPush(found, null), asking)
      }
      const { outcome, push, content } = claimed
      if (outcome !== 'view' || content === null) return { outcome: 'expired', push, urlToken }
      return { outcome, push, urlToken, payload: content.payload, files: [], archives: [] }
    }
    throw notFound()
  }

  /** Opens the push first, because the passphrase must be checked before a view is counted. */
  async function retrieveWith(
    passphrase: string,
    { urlToken, ...asking }: ViewOptions & { urlToken: string },
  ): Promise<Retrieval> {
    const found = await finder.getSealedPush(urlToken, asking.viewer.visit)
    if (!found.push.passphraseRequired || found.sealed === null)
      return claim(found, openPush(found, null), asking)
    // No view is counted yet, so an outage here leaves no doubt.
    const opening = await openWithPassphrase(found, { passphrase, viewer: asking.viewer }).catch(
      rethrowWithoutDoubt,
    )
    return opening.outcome === 'opened' ? claim(opening.found, opening.content, asking) : opening
  }

  /** Claims a view. `content` is null for an expired push, whose visit the claim records. */
  async function claim(
    { push: { id }, urlToken }: FoundPush,
    content: Content | null,
    { viewer: { visit, account }, lookBy, nonce, makeRoom }: ViewOptions,
  ): Promise<Retrieval> {
    makeRoom(sizeOf(content))
    const there = content === null ? [] : await findFiles(id, content)
    const claimed = await store.pushes.claimView({ id, visit, by: account?.id ?? null, lookBy, nonce })
    if (claimed === null) throw notFound()
    const { outcome, push } = claimed
    if (outcome === 'limited') return presentLimit({ push, urlToken }, now())
    if (outcome === 'expired' || content === null) return { outcome: 'expired', push, urlToken }
    const lost = content.files.filter((_, at) => !there[at])
    reportLost(id, lost)
    const { payload } = content
    const granted = grantAll({ push, ...content, viewedAt: now() })
    const files = granted.files.map((file, at) => ({ ...file, isThere: there[at] === true }))
    // Offer no archive if a file is lost: it would look complete.
    return { outcome, push, urlToken, payload, files, archives: lost.length === 0 ? granted.archives : [] }
  }

  /**
   * Checks, before a view is counted, which files exist. Throws DamageError if nothing of the push is left.
   */
  async function findFiles(id: number, { payload, files }: Content): Promise<boolean[]> {
    const there = await Promise.all(files.map(store.files.has))
    if (payload === '' && files.length > 0 && !there.some(Boolean)) throw reportLost(id, files)
    return there
  }

  /** Reports lost files. Returns the first report. */
  function reportLost(push: number, files: readonly { id: string }[]): DamageError | undefined {
    const damages = files.map(({ id }) => damageOfFile({ file: id, push }, store))
    for (const damage of damages) store.damage.report(damage)
    return damages[0]
  }

  return retrieve
}

function sizeOf(content: Content | null): number {
  return content === null ? 0 : Buffer.byteLength(content.payload)
}
