// Whether a bucket that was not used before holds the files of this database.

import type { PlaceDoubt } from '../files/bucket-folder.ts'
import { S3Failure } from './failures.ts'

/**
 * What it returns throws S3Failure when the bucket lacks all of the files, or does not answer, and asks until it went well once.
 * `holds`: whether the bucket holds a file.
 */
export function createPlaceCheck(
  doubt: PlaceDoubt | null,
  holds: (id: string) => Promise<boolean>,
): () => Promise<void> {
  let left = doubt
  let checking: Promise<void> | null = null

  async function check({ needed, accept }: PlaceDoubt): Promise<void> {
    for (const id of needed)
      if (await holds(id)) {
        await accept()
        left = null
        return
      }
    throw new S3Failure('misplaced', LACKS_FILES)
  }

  return () => {
    if (left === null) return Promise.resolve()
    checking = checking ?? check(left).finally(() => (checking = null))
    return checking
  }
}

const LACKS_FILES =
  'it lacks the files that the database names. Start with the --files-url of before, or restore the bucket. ' +
  'Files of pushes that have expired are not needed any more, some minutes later'
