// Whether the files of a source, once it was moved away, are those that the target needs.

import { DomainError } from '../../domain/errors.ts'
import { isSameFolder } from '../../store/folder/same-place.ts'
import type { MovingBucketFolder } from '../../store/moving-face.ts'
import type { FilePlace } from './file-places.ts'

export type FilesSide = {
  place: FilePlace
  /** The folder in a bucket, as the rows name it. */
  folder: MovingBucketFolder | null
}

/** What the rows of a target say counts, and not which flags this command has. */
export function areKept(from: FilesSide, to: FilesSide): boolean {
  if (from.folder?.isUsed && to.folder?.isUsed && from.folder.tag === to.folder.tag) return true
  return (
    from.place.kind === 'disk' && to.place.kind === 'disk' && isSameFolder(from.place.path, to.place.path)
  )
}

/** Throws `conflict` when the command names a bucket for a target whose files are on a disk: nobody knows then on which. */
export function requireNamed({ place, folder }: FilesSide): void {
  if (place.kind !== 'bucket' || folder?.isUsed) return
  throw new DomainError(
    'conflict',
    'The files of the target are on a disk, not in a bucket: leave --files-url out, and name the data folder of its node with ' +
      '--data-dir. Nothing was destroyed.',
  )
}
