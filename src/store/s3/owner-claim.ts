// The first look of a process at the mark: whether the bucket holds the files of this database, or may be taken for them.

import type { FolderSessions } from '../files/bucket-folder.ts'
import { S3Failure } from './failures.ts'
import { nextMark } from './mark.ts'
import type { MarkObject } from './mark-object.ts'

export type OwnerClaim = ReturnType<typeof createOwnerClaim>

export type OwnerClaimOptions = {
  mark: MarkObject
  sessions: FolderSessions
  /** Whether the rows named files at the start, which must be in this bucket then. */
  heldFiles: boolean
  /** Whether another process writes a mark that is missing. */
  isMarkedByOthers?: () => Promise<boolean>
  onWarning: (warning: string) => void
  /** Names the bucket. */
  name: string
}

export function createOwnerClaim(options: OwnerClaimOptions) {
  const { mark, sessions, heldFiles, isMarkedByOthers, onWarning, name } = options
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
    const isKnown = found !== null && (await sessions.knows(found.session))
    if (found === null) await requireUnused()
    else if (!isKnown) onWarning(takenText(name))
    await mark.write(nextMark(found, { isKnown, now }))
    claimedAt = now
  }

  /** A bucket without our mark may be taken only while no files of ours can be in another one. */
  async function requireUnused(): Promise<void> {
    if (heldFiles) throw new S3Failure('misplaced', LACKS_FILES)
    if (await isMarkedByOthers?.()) throw new S3Failure('misplaced', LACKS_MARK)
  }

  /** `claimedAt`: when that went well, in the time of the store; null before. */
  return { confirm, claimedAt: () => claimedAt }
}

const LACKS_FILES = 'it lacks the files that the database names. Correct --files-url, or restore the bucket'

const LACKS_MARK =
  'it does not hold the mark of the other nodes. Give all nodes the same --files-url; if this is it, the node that began ' +
  'first marks the bucket once it reaches it'

function takenText(name: string): string {
  return (
    `The files in the bucket ${name} were last used over another copy of this database. If that is still served, stop it, or give ` +
    'this one a bucket or a prefix of its own. For half an hour no file is removed.'
  )
}
