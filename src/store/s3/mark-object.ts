// The mark as it lies in the bucket: read with the time of the store, and written for the session that serves now.

import type { BucketPlace } from '../../domain/bucket-place.ts'
import type { BucketFolder, FolderSessions } from '../files/bucket-folder.ts'
import { type Mark, parseMark, presentMark } from './mark.ts'
import type { Objects } from './objects.ts'
import { openObjects } from './open-objects.ts'

export type MarkObject = ReturnType<typeof createMarkObject>

export type MarkObjectOptions = {
  objects: Pick<Objects, 'put' | 'readDated' | 'list'>
  key: string
  sessions: FolderSessions
}

/** The name of the mark, which no file can have. */
const NAME = '_mark'

/** `tag` names the folder of a database. */
export function markKeyOf({ prefix }: Pick<BucketPlace, 'prefix'>, tag: string): string {
  return `${prefix}${tag}/${NAME}`
}

export function createMarkObject({ objects, key, sessions }: MarkObjectOptions) {
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

  return { read, write }
}

/**
 * Ends what the mark tells of other databases. Call this only once none of them is served with the same folder. Does nothing
 * where there is no mark. Throws S3Failure.
 */
export async function markAlone(
  bucket: Parameters<typeof openObjects>[0],
  { tag, sessions }: Pick<BucketFolder, 'tag' | 'sessions'>,
): Promise<void> {
  const { objects } = openObjects(bucket)
  const { read, write } = createMarkObject({ objects, key: markKeyOf(bucket.place, tag), sessions })
  const { found, now } = await read()
  if (found !== null) await write({ since: now, disputedAt: null })
}
