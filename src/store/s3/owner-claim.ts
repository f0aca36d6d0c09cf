// The first look of a process at the mark: whether the bucket holds the files of this database, or may be taken for them.

import type { BucketFolder, SessionAge } from '../files/bucket-folder.ts'
import { S3Failure } from './failures.ts'
import { nextMark } from './mark.ts'
import type { MarkObject } from './mark-object.ts'

export type OwnerClaim = ReturnType<typeof createOwnerClaim>

export type OwnerClaimOptions = Omit<BucketFolder, 'tag'> & {
  mark: MarkObject
  /** Whether the bucket holds this file. */
  holds: (id: string) => Promise<boolean>
  onWarning: (warning: string) => void
  /** Names the bucket. */
  name: string
}

export function createOwnerClaim(options: OwnerClaimOptions) {
  const { mark, sessions, findHeld, holds, isMarkedByOthers, onWarning, name } = options
  /** In the time of the store. */
  let claimedAt: number | null = null
  let claiming: Promise<void> | null = null

  /** Throws S3Failure when the bucket lacks the files of this database, or does not answer. Asks until it went well once. */
  function confirm(): Promise<void> {
    if (claimedAt !== null) return Promise.resolve()
    claiming = claiming ?? claim().finally(() => (claiming = null))
    return claiming
  }

  async function claim(): Promise<void> {
    const { found, now } = await mark.read()
    const age = found === null ? 'unknown' : await sessions.ageOf(found.session)
    if (age !== 'now') await requireFiles(age)
    if (found !== null && age === 'unknown') onWarning(takenText(name))
    await mark.write(nextMark(found, { isKnown: age !== 'unknown', now }))
    claimedAt = now
  }

  /**
   * A place that was left keeps its old mark, so a mark alone does not tell that files of ours are there. That of the session
   * before this one does: if its files are missing, they are lost, and not in another place.
   */
  async function requireFiles(age: SessionAge): Promise<void> {
    const held = await findHeld()
    if (await holdsOneOf(held)) return
    if (await isMarkedByOthers?.()) throw new S3Failure('misplaced', LACKS_MARK)
    if (held.length > 0 && age !== 'previous') throw new S3Failure('misplaced', LACKS_FILES)
  }

  async function holdsOneOf(ids: readonly string[]): Promise<boolean> {
    for (const id of ids) if (await holds(id)) return true
    return false
  }

  /** `claimedAt`: when that went well, in the time of the store; null before. */
  return { confirm, claimedAt: () => claimedAt }
}

const LACKS_FILES =
  'it lacks the files that the database names. Start with the --files-url of before, or restore the bucket. ' +
  'Files of pushes that have expired are not needed any more, some minutes later'

const LACKS_MARK =
  'it does not hold the mark of the other nodes. Give all nodes the same --files-url; if this is it, the node that began ' +
  'first marks the bucket once it reaches it'

function takenText(name: string): string {
  return (
    `The files in the bucket ${name} were last used over another copy of this database. If that is still served, stop it, or give ` +
    'this one a bucket or a prefix of its own. For half an hour no file is removed.'
  )
}
