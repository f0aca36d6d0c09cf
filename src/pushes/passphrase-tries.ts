// Tries of a passphrase on a push: sequential, and limited.

import type { Viewer } from '../domain/audit.ts'
import { DamageError, notFound } from '../domain/errors.ts'
import { isLocked, passphraseLockedFor } from '../domain/push.ts'
import type { Now } from '../domain/time.ts'
import type { Store } from '../store/contract.ts'
import { type Content, openPush } from './content.ts'
import { nameOf } from './labels.ts'
import type { LinkedPush } from './owner-lists.ts'
import type { Passphrases } from './passphrases.ts'
import type { FoundPush, PushFinder } from './push-finder.ts'

/** Why a push was not opened. */
export type RetrievalRefusal =
  | (LinkedPush & { outcome: 'expired' })
  /** The push after the wrong try, which expires or locks it if it was the last allowed one. */
  | (LinkedPush & { outcome: 'wrong_passphrase' })
  /** Too many wrong tries within a minute: no passphrase is checked for `lockedFor` milliseconds. */
  | { outcome: 'passphrase_locked'; lockedFor: number }
  /** Too many wrong tries in total: no passphrase is checked until the owner unlocks the push. */
  | (LinkedPush & { outcome: 'locked' })

export type TryOutcome = { outcome: 'opened'; found: FoundPush; content: Content } | RetrievalRefusal

type PassphraseTry = { passphrase: string; viewer: Viewer }

export type PassphraseTriesOptions = {
  store: Pick<Store, 'pushes'>
  finder: PushFinder
  passphrases: Passphrases
  /** The total of wrong passphrases after which a push expires or is locked; 0 for no limit. */
  maxWrongTries: number
  now: Now
}

export function createPassphraseTries(options: PassphraseTriesOptions) {
  const { store, finder, passphrases, maxWrongTries, now } = options

  /** Opens a push. Counts a wrong passphrase before it checks the next one. */
  async function openWithPassphrase(
    found: FoundPush,
    { passphrase, viewer }: PassphraseTry,
  ): Promise<TryOutcome> {
    // Skip the queue: no passphrase will be checked.
    if (found.sealed === null || findLimit(found, now()) !== null)
      return tryPassphrase(found, passphrase, viewer)
    return passphrases.inTurn(nameOf(found.push), viewer.visit.ip, async (hasWaited) => {
      // Read the push again: earlier tries may have changed it.
      const current = hasWaited ? await finder.getSealedPush(found.urlToken, viewer.visit) : found
      return tryPassphrase(current, passphrase, viewer)
    })
  }

  async function tryPassphrase(found: FoundPush, passphrase: string, viewer: Viewer): Promise<TryOutcome> {
    const { push, sealed } = found
    if (sealed === null) return refuse(found, viewer)
    const limit = findLimit(found, now())
    if (limit !== null) return limit
    const salt = sealed.secrets.passphraseSalt
    if (salt === null) throw new DamageError(nameOf(push))
    const { key } = await passphrases.derive(passphrase, viewer.visit.ip, salt)
    const content = openPush(found, key)
    return content === null ? refuse(found, viewer) : { outcome: 'opened', found, content }
  }

  /** Records the refusal, or the visit to a push that has expired meanwhile. */
  async function refuse(
    { push: { id }, urlToken }: FoundPush,
    { visit, account }: Viewer,
  ): Promise<RetrievalRefusal> {
    const refused = await store.pushes.refusePassphrase({
      id,
      visit,
      by: account?.id ?? null,
      maxTries: maxWrongTries,
    })
    if (refused === null) throw notFound()
    const { outcome, push } = refused
    if (outcome === 'expired') return { outcome, push, urlToken }
    if (outcome === 'limited') return presentLimit({ push, urlToken }, now())
    return { outcome: 'wrong_passphrase', push, urlToken }
  }

  return { openWithPassphrase }
}

/** Returns why no passphrase is checked now; null if one may be tried. */
function findLimit({ push, urlToken }: LinkedPush, now: number): RetrievalRefusal | null {
  if (isLocked(push)) return { outcome: 'locked', push, urlToken }
  const lockedFor = passphraseLockedFor(push, now)
  return lockedFor > 0 ? { outcome: 'passphrase_locked', lockedFor } : null
}

/** Returns the result for a push that was limited a moment ago. */
export function presentLimit(found: LinkedPush, now: number): RetrievalRefusal {
  return findLimit(found, now) ?? { outcome: 'passphrase_locked', lockedFor: 1 }
}
