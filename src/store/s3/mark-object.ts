// The mark as it lies in the bucket: read with the time of the store, and written for the session that serves now.

import type { FolderSessions } from '../files/bucket-folder.ts'
import { type Mark, parseMark, presentMark } from './mark.ts'
import type { Objects } from './objects.ts'

export type MarkObject = ReturnType<typeof createMarkObject>

export type MarkObjectOptions = {
  objects: Pick<Objects, 'put' | 'readDated' | 'list'>
  key: string
  sessions: FolderSessions
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
