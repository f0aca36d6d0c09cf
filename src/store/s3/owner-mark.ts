// The mark in the bucket that says whose the folder of objects is. It keeps a server from using a bucket that does not hold
// its files, and from removing what only a copy of its own database knows.

import { S3Failure } from './failures.ts'
import type { Objects } from './objects.ts'

/** What the mark holds: who wrote it last, and since when nobody else did, in the time of the store. */
type Mark = { session: string; since: number }

export type OwnerMark = ReturnType<typeof createOwnerMark>

export type OwnerMarkOptions = {
  objects: Pick<Objects, 'put' | 'readWhole' | 'list'>
  key: string
  /** The session that this database wrote last, and the one of this process. */
  sessions: { last: string | null; now: string }
  /** Whether the rows named files at the start, which must be in this bucket then. */
  heldFiles: boolean
  /** Whether it is for another process to write a mark that is missing. */
  isMarkedByOthers?: () => Promise<boolean>
  onWarning: (warning: string) => void
  /** Names the bucket. */
  name: string
}

export function createOwnerMark(options: OwnerMarkOptions) {
  const { objects, key, sessions, heldFiles, isMarkedByOthers, onWarning, name } = options
  /** When this process wrote the mark, in the time of the store. */
  let claimedAt: number | null = null
  let claiming: Promise<void> | null = null

  /** Throws S3Failure when the bucket lacks the files of this database, or does not answer. Asks until it went well once. */
  function confirm(): Promise<void> {
    if (claimedAt !== null) return Promise.resolve()
    claiming = claiming ?? claim().finally(() => (claiming = null))
    return claiming
  }

  async function claim(): Promise<void> {
    const found = await read()
    if (found === null) await requireUnused()
    const now = await readTime()
    const isOurs = found !== null && [sessions.last, sessions.now].includes(found.session)
    await write({ session: sessions.now, since: isOurs ? found.since : now })
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

  async function read(): Promise<Mark | null> {
    const bytes = await objects.readWhole(key)
    return bytes === null ? null : parseMark(bytes)
  }

  async function readTime(): Promise<number> {
    return (await objects.list(key, null)).now
  }

  function write(mark: Mark): Promise<void> {
    return objects.put(key, Buffer.from(JSON.stringify(mark)))
  }

  /**
   * For how many milliseconds nobody else has used this folder of objects; null while somebody does. A copy of the database
   * that is served elsewhere writes a mark of its own, and this one then begins anew: neither removes what the other knows.
   */
  async function measureAlone(): Promise<number | null> {
    await confirm()
    const [found, now] = [await read(), await readTime()]
    if (found?.session === sessions.now) return now - found.since
    // A mark that somebody removed is only written again.
    if (found !== null)
      onWarning(
        `Another server uses the same files in the bucket ${name}, perhaps with a copy of the database: stop one of the two. ` +
          'Until then, unknown objects are kept.',
      )
    await write({ session: sessions.now, since: now })
    return null
  }

  return { confirm, measureAlone, claimedAt: () => claimedAt }
}

function parseMark(bytes: Uint8Array): Mark | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    if (typeof value !== 'object' || value === null || !('session' in value) || !('since' in value))
      return null
    const { session, since } = value
    return typeof session === 'string' && typeof since === 'number' ? { session, since } : null
  } catch {
    return null
  }
}
