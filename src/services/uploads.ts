// Uploads: files sealed to disk as they arrive, before the push they belong to exists.

import { newDataKey } from '../crypto/push-secrets.ts'
import { randomBase32 } from '../crypto/random.ts'
import { deriveFileKey, sealStream } from '../crypto/sealed-stream.ts'
import { DomainError } from '../domain/errors.ts'
import { cleanFilename, MAX_FILENAME_CHARACTERS, type StoredFile, safeContentType } from '../domain/files.ts'
import type { PushLimits } from '../domain/new-push.ts'
import { invalidFields } from '../domain/problems.ts'
import type { Store } from '../store/store.ts'
import type { Relieve } from './relief.ts'

export type IncomingFile = { filename: string; contentType: string; content: AsyncIterable<Uint8Array> }

/** The files of one request, and the data key that will be their push's. */
export type Upload = ReturnType<Uploads['begin']>
export type Uploads = ReturnType<typeof createUploads>

const ID_CHARACTERS = 26
/** Bytes after which the disk is looked at again. */
const SPACE_CHECK_BYTES = 16 * 1024 * 1024

export type UploadsOptions = {
  store: Pick<Store, 'files' | 'freeSpace'>
  limits: PushLimits
  relieve: Relieve
}

export function createUploads({ store, limits, relieve }: UploadsOptions) {
  function begin() {
    const dataKey = newDataKey()
    // In the order of their beginning; small ones may end earlier than a large one before them.
    const begun: { id: string; file: StoredFile | null }[] = []

    /** Seals the content to disk as it comes. Throws `too_large`, `invalid` or `disk_full`. */
    async function add({ filename, contentType, content }: IncomingFile): Promise<void> {
      const name = checkName(filename)
      if (begun.length >= limits.files)
        throw invalidFields({ files: [{ code: 'too_many_files', limit: limits.files }] })
      const entry: (typeof begun)[number] = { id: randomBase32(ID_CHARACTERS), file: null }
      begun.push(entry)
      const { id } = entry
      await store.freeSpace.require()
      const counted = { size: 0 }
      const sealed = sealStream(count(content, counted), { id, key: deriveFileKey(dataKey, id) })
      await store.files.keepFile(id, sealed)
      entry.file = { id, filename: name, contentType: safeContentType(contentType), size: counted.size }
    }

    function listFiles(): StoredFile[] {
      return begun.flatMap(({ file }) => file ?? [])
    }

    async function* count(content: AsyncIterable<Uint8Array>, counted: { size: number }) {
      let checked = 0
      for await (const chunk of content) {
        counted.size += chunk.length
        if (counted.size > limits.fileBytes) throw tooLarge(limits.fileBytes)
        if (counted.size - checked > SPACE_CHECK_BYTES) {
          checked = counted.size
          await store.freeSpace.require()
        }
        relieve(chunk.length)
        yield chunk
      }
    }

    /** Leaves nothing behind of an upload that came to nothing. */
    async function discard(): Promise<void> {
      await Promise.all(begun.map(({ id }) => store.files.giveUpFile(id)))
    }

    return { dataKey, listFiles, add, discard }
  }

  return { begin }
}

function checkName(filename: string): string {
  const name = cleanFilename(filename)
  if (name.length <= MAX_FILENAME_CHARACTERS) return name
  throw invalidFields({ files: [{ code: 'filename_too_long', limit: MAX_FILENAME_CHARACTERS }] })
}

function tooLarge(bytes: number): DomainError {
  return new DomainError(
    'too_large',
    `A file may have at most ${bytes} bytes (--max-file-bytes raises this).`,
  )
}
