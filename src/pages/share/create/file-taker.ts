// Stores the files of a create form. Browsers send most texts after the files, so an outage must not stop the
// reading: from then on files are read and dropped, and the outage is reported at the end of the form.

import { isOutage, type OutageError } from '../../../domain/errors.ts'
import type { FilePart } from '../../../http/intake/multipart.ts'
import type { StoreFile } from '../../../http/intake/receiving.ts'

export type FileTaker = ReturnType<typeof createFileTaker>

/** `known` is an outage noticed before the form is read. */
export function createFileTaker(known: OutageError | null) {
  let outage = known
  let hasFiles = false

  /** Stores a file, or drops it in an outage, which `store` may throw at any byte. Throws any other error. */
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

/**
 * Yields the remaining chunks. Stopping early leaves the iterator open for the next reader, unlike iterating
 * the content itself.
 */
async function* leftIn(chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
}
