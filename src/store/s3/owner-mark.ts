// The mark in the bucket that says whose the folder of objects is. It keeps a server from using a bucket that does not hold
// its files, and from removing what only a copy of its own database knows.
//
// Two databases that serve the same folder write their marks in turns. As long as each finds the mark of the other one, none of
// them removes anything: an object that one gives up may belong to a live push of the other.

import { MINUTE } from '../../domain/time.ts'
import { type Mark, nextMark } from './mark.ts'
import { createMarkObject, type MarkObjectOptions } from './mark-object.ts'
import { createOwnerClaim, type OwnerClaimOptions } from './owner-claim.ts'

export type OwnerMark = ReturnType<typeof createOwnerMark>

export type OwnerMarkOptions = MarkObjectOptions & Omit<OwnerClaimOptions, 'mark'>

/** A server looks at its mark at least this often. */
export const MARK_LOOK_MS = MINUTE
/** A server that lives has looked several times meanwhile, and written its own mark again. */
const DISPUTE_MS = 30 * MINUTE

/**
 * Who wrote the mark: nobody, because it was removed; the session of this process and of the nodes beside it; an earlier session
 * of this database, which a copy of the database knows too; or another database.
 */
type Author = 'nobody' | 'this session' | 'earlier session' | 'another database'

/** `alone`: for how many milliseconds no other server has written a mark. */
type Look = { alone: number; isDisputed: boolean }

export function createOwnerMark(options: OwnerMarkOptions) {
  const { sessions, onWarning, name } = options
  const mark = createMarkObject(options)
  const { confirm, claimedAt } = createOwnerClaim({ ...options, mark })
  let last: Look | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  /** Whether another server was noticed since this process began, and may still be there. */
  let isShared = false

  async function look(): Promise<Look> {
    await confirm()
    const { found, now } = await mark.read()
    const author = await findAuthor(found)
    const next = nextMark(found, { isKnown: author !== 'another database', now })
    if (author !== 'this session') await mark.write(next)
    last = { alone: now - next.since, isDisputed: isRecent(next.disputedAt, now) }
    lookedAt = performance.now()
    noteOthers(last, author)
    return last
  }

  async function findAuthor(found: Mark | null): Promise<Author> {
    if (found === null) return 'nobody'
    if (found.session === (await sessions.now())) return 'this session'
    return (await sessions.ageOf(found.session)) === 'unknown' ? 'another database' : 'earlier session'
  }

  /** While a dispute goes on, a mark that this session did not write is that of the other server. */
  function noteOthers({ isDisputed }: Look, author: Author): void {
    const isOther = isDisputed && author !== 'this session'
    if (isOther && !isShared) onWarning(sharedText(name))
    isShared = isOther || (isDisputed && isShared)
  }

  /** For how many milliseconds no other server has used this folder of objects; null while one does. */
  async function measureAlone(): Promise<number | null> {
    const { alone, isDisputed } = await look()
    return isDisputed ? null : alone
  }

  /** Whether no other database serves this folder of objects, as far as its mark told a moment ago. */
  async function isUndisputed(): Promise<boolean> {
    const isFresh = performance.now() - lookedAt < MARK_LOOK_MS / 2
    const { isDisputed } = isFresh && last !== null ? last : await look()
    return !isDisputed
  }

  return {
    confirm,
    measureAlone,
    isUndisputed,
    claimedAt,
    /** Whether another server was noticed, so that no file is removed. */
    isShared: () => isShared,
  }
}

/** A time that the store did not tell counts as recent. */
function isRecent(disputedAt: number | null, now: number): boolean {
  return disputedAt !== null && !(now - disputedAt >= DISPUTE_MS)
}

function sharedText(name: string): string {
  return (
    `Another server uses the same files in the bucket ${name}, perhaps with a copy of the database. Stop one of the two, ` +
    'or give the copy a bucket or a prefix of its own. Until half an hour after that no file is removed.'
  )
}
