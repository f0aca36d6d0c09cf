// The folder of a database in its bucket, and what keeps files from changing their place.

import { DomainError } from '../../domain/errors.ts'

/** `tag` is its name. `heldFiles`: whether pushes have files there. */
export type BucketFolder = {
  tag: string
  /** Tell this database from a copy that is served elsewhere: of those who serve it now, and of those before. */
  sessions: { last: string | null; now: string }
  heldFiles: boolean
  /** Whether another process that serves the same database is the one to mark the bucket, if it has no mark. */
  isMarkedByOthers?: () => Promise<boolean>
}

/** How many pushes have files, and how many files can be downloaded after a last view. */
export type HeldFiles = { pushes: number; granted: number }

/** Where files are: on the disk of this server or of another one, or in a bucket. */
export type FilesAt = 'disk' | 'bucket' | { disk: string }

/** Throws `conflict` while files are needed where they are. */
export function requireNothingHeld({ pushes, granted }: HeldFiles, at: FilesAt): void {
  const [here, there] = namesOf(at)
  if (pushes > 0)
    throw new DomainError(
      'conflict',
      `${pushes === 1 ? 'A live push has its files' : `${pushes} live pushes have their files`} ${here}, which would be ` +
        `lost: start ${there} until they have expired, or delete them first.`,
    )
  if (granted > 0)
    throw new DomainError(
      'conflict',
      `Files ${here} can still be downloaded after a last view: start ${there}, or try again in some minutes.`,
    )
}

function namesOf(at: FilesAt): [here: string, there: string] {
  if (at === 'disk') return ['in the data folder', 'without --files-url']
  if (at === 'bucket') return ['in a bucket', 'with the --files-url of before']
  return [`in another data folder (${at.disk})`, 'with that one']
}
