// Takes the files of a create form. Browsers send most texts after them, so an outage must not end the
// reading: from then on files are read and dropped, and the outage is told once the form has been read to its
// end.

import { isOutage, type OutageError } from '../../../domain/errors.ts'
import type { FilePart } from '../../../http/intake/multipart.ts'
import type { StoreFile } from '../../../http/intake/receiving.ts'

export type FileTaker = ReturnType<typeof createFileTaker>

/** `known`: the outage that is there before the form is read. */
export function createFileTaker(known: OutageError | null) {
  let outage = known
  let hasFiles = false

  /** `store` may throw an outage at any byte. Throws everything else. */
  async function take({ content, ...file }: FilePart, store: StoreFile): Promise<void> {
    hasFiles = true
    const chunks = content[Symbol.asyncIterator]()
    if (outage === null) {
      try {
        return await store({ ...file, content: leftIn(chunks) })
      } catch (cause) {
        if (!isOutage(cause)) throw cause
        outage = cause
      }
    }
    for await (const _ of leftIn(chunks));
  }

  function requireNone(): void {
    if (outage !== null) throw outage
  }

  return { take, requireNone, hasFiles: () => hasFiles }
}

/** Unlike the content itself, its reader may stop early, and another one goes on. */
async function* leftIn(chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
}
