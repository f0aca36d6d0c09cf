// The mark in the bucket that says whose the folder of objects is. It keeps a server from using a bucket that does not hold
// its files, and from removing what only a copy of its own database knows.
//
// Two databases that serve the same folder write their marks in turns. As long as each finds the mark of the other one, none of
// them removes anything: an object that one gives up may belong to a live push of the other.

import { MINUTE } from '../../domain/time.ts'
import type { FolderSessions } from '../files/bucket-folder.ts'
import { S3Failure } from './failures.ts'
import { type Mark, parseMark, presentMark } from './mark.ts'
import type { Objects } from './objects.ts'

/** `isOurs`: the session of this process, or of the nodes beside it, wrote the mark last. */
type Look = { alone: number; isDisputed: boolean; isOurs: boolean }

export type OwnerMark = ReturnType<typeof createOwnerMark>

export type OwnerMarkOptions = {
  objects: Pick<Objects, 'put' | 'readDated' | 'list'>
  key: string
  sessions: FolderSessions
  /** Whether the rows named files at the start, which must be in this bucket then. */
  heldFiles: boolean
  /** Whether another process writes a mark that is missing. */
  isMarkedByOthers?: () => Promise<boolean>
  onWarning: (warning: string) => void
  /** Names the bucket. */
  name: string
}

/** A server looks at its mark at least this often. */
export const LOOK_EVERY_MS = MINUTE
/** A server that lives has looked several times meanwhile, and written its own mark again. */
const DISPUTE_MS = 30 * MINUTE

export function createOwnerMark(options: OwnerMarkOptions) {
  const { objects, key, sessions, heldFiles, isMarkedByOthers, onWarning, name } = options
  /** When this process first looked, in the time of the store. */
  let claimedAt: number | null = null
  let claiming: Promise<void> | null = null
  let last: Look | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  /** Whether another server was noticed since this process began, and may still be there. */
  let isShared = false

  /** Throws S3Failure when the bucket lacks the files of this database, or does not answer. Asks until it went well once. */
  function confirm(): Promise<void> {
    if (claimedAt !== null) return Promise.resolve()
    claiming = claiming ?? claim().finally(() => (claiming = null))
    return claiming
  }

  async function claim(): Promise<void> {
    const { found, now } = await read()
    if (found === null) {
      await requireUnused()
      await write({ since: now, disputedAt: null })
    } else if (await sessions.knows(found.session)) await write(found)
    else {
      onWarning(takenText(name))
      await dispute(now)
    }
    claimedAt = now
  }

  /** A bucket without our mark may be taken only while no files of ours can be in another one. */
  async function requireUnused(): Promise<void> {
    if (heldFiles)
      throw new S3Failure(
        'misplaced',
        'it lacks the files that the database names. Correct --files-url, or restore the bucket',
      )
    if (await isMarkedByOthers?.())
      throw new S3Failure(
        'misplaced',
        'it does not hold the mark of the other nodes. Give all nodes the same --files-url; if this is it, the node that began ' +
          'first marks the bucket once it reaches it',
      )
  }

  /** The mark, null for none, and the time of the store. */
  async function read(): Promise<{ found: Mark | null; now: number }> {
    const answer = await objects.readDated(key)
    return answer === null
      ? { found: null, now: (await objects.list(key, null)).now }
      : { found: parseMark(answer.bytes), now: answer.now }
  }

  async function write({ since, disputedAt }: Omit<Mark, 'session'>): Promise<void> {
    await objects.put(key, presentMark({ session: await sessions.now(), since, disputedAt }))
  }

  function dispute(now: number): Promise<void> {
    return write({ since: now, disputedAt: now })
  }

  async function look(): Promise<Look> {
    await confirm()
    const { found, now } = await read()
    last = await judge(found, now)
    lookedAt = performance.now()
    if (last.isDisputed && !last.isOurs && !isShared) onWarning(sharedText(name))
    isShared = last.isDisputed && (isShared || !last.isOurs)
    return last
  }

  async function judge(found: Mark | null, now: number): Promise<Look> {
    if (found === null) {
      // The mark was removed.
      await write({ since: now, disputedAt: null })
      return { alone: 0, isDisputed: false, isOurs: true }
    }
    const isOurs = found.session === (await sessions.now())
    if (!isOurs && !(await sessions.knows(found.session))) {
      await dispute(now)
      return { alone: 0, isDisputed: true, isOurs }
    }
    // One that this database wrote before a restart, or that a copy has taken for its own.
    if (!isOurs) await write(found)
    const isDisputed = found.disputedAt !== null && !(now - found.disputedAt >= DISPUTE_MS)
    return { alone: now - found.since, isDisputed, isOurs }
  }

  /** For how many milliseconds no other server has used this folder of objects; null while one does. */
  async function measureAlone(): Promise<number | null> {
    const { alone, isDisputed } = await look()
    return isDisputed ? null : alone
  }

  /** Whether no other database serves this folder of objects, as far as its mark told a moment ago. */
  async function isUndisputed(): Promise<boolean> {
    const isFresh = last !== null && performance.now() - lookedAt < LOOK_EVERY_MS / 2
    const { isDisputed } = isFresh && last !== null ? last : await look()
    return !isDisputed
  }

  return {
    confirm,
    measureAlone,
    isUndisputed,
    claimedAt: () => claimedAt,
    /** Why files are kept, to continue a sentence about the bucket; null while no other server was noticed. */
    problem: (): string | null => (isShared ? SHARED : null),
  }
}

const SHARED =
  'another server uses the same files in it, perhaps over a copy of the database, and until one of them is stopped no file is removed'

function takenText(name: string): string {
  return (
    `The files in the bucket ${name} were last used over another copy of this database. If that is still served, stop it, or give ` +
    'this one a bucket or a prefix of its own. For half an hour no file is removed.'
  )
}

function sharedText(name: string): string {
  return (
    `Another server uses the same files in the bucket ${name}, perhaps with a copy of the database. Stop one of the two, ` +
    'or give the copy a bucket or a prefix of its own. Until half an hour after that no file is removed.'
  )
}
