// The folder of a database in its bucket, and what keeps files from changing their place.

import { DomainError } from '../../domain/errors.ts'

/** `tag` is its name: random, made at the first use, so that no other database has the same. */
export type BucketFolder = {
  tag: string
  /** Null when the bucket is the one that was used last, or no file is needed. */
  doubt: PlaceDoubt | null
}

/** Another bucket than before is taken only if it holds one of these files, which live pushes or their downloads need. */
export type PlaceDoubt = {
  needed: readonly string[]
  /** Writes down that the files are there. */
  accept(): Promise<void>
}

/** How many files are looked for in a bucket that may be the wrong one. */
export const HELD_LOOKS = 8

export const TAG_CHARACTERS = 26

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
        `lost: start ${there} until they have expired.`,
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

/** Said of what is left in a bucket that is not used any more. */
export function leftInBucket(count: number, place: string, tag: string): string {
  return `${count} objects that belong to no push may remain in the bucket ${place}, under ${tag}/: remove them there.`
}
