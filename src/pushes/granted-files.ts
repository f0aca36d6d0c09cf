// The files behind grants: opened, checked and read. A deletion of the push breaks off what is being read.

import {
  HEADER_BYTES,
  isHeader,
  openSegment,
  SEGMENT_BYTES,
  sealedSize,
  segmentCount,
  segmentPosition,
} from '../crypto/sealed-stream.ts'
import { DamageError, notFound } from '../domain/errors.ts'
import type { Now } from '../domain/time.ts'
import type { Store } from '../store/contract.ts'
import type { OpenedFile } from '../store/files-contract.ts'
import type { StoredPush } from '../store/pushes-contract.ts'
import type { Relieve } from './relief.ts'

/** Byte positions; excludes `end`. */
export type Span = { start: number; end: number }

/** An open file. It stays readable after its removal, until `close`. */
export type ReadableFile = {
  /**
   * Authenticated plain bytes, a segment at a time. Throws when the file was altered or its push was deleted.
   */
  read(span: Span): AsyncGenerator<Uint8Array>
  close(): Promise<void>
}

export type FileOfPush = {
  /** The push's lookup, in hex. */
  push: string
  file: string
  /** The file's own key, in base64. */
  key: string
  size: number
}

export type GrantedFilesOptions = {
  store: Pick<Store, 'files' | 'pushes' | 'damage' | 'bucket'>
  now: Now
  relieve: Relieve
  /** Milliseconds of a clock that only goes on. */
  elapsed: () => number
  /**
   * Milliseconds between two looks whether a push was deleted while its file is read; 0 looks before each
   * segment.
   */
  lookEvery: number
}

export function createGrantedFiles({ store, now, relieve, elapsed, lookEvery }: GrantedFilesOptions) {
  /**
   * Throws `not_found` for a file that was destroyed, and DamageError for one that is missing or was altered.
   */
  async function openFile(wanted: FileOfPush): Promise<ReadableFile> {
    const { id } = await findPush(wanted.push)
    const damage = damageOfFile({ file: wanted.file, push: id }, store)
    const opened = await store.files.open(wanted.file)
    if (opened === null) {
      // The file of an expired push may have been removed meanwhile.
      throw (await findPush(wanted.push)).expiredOn === null ? damage : notFound()
    }
    await requireIntact(opened, { size: wanted.size, damage })
    const look = lookingFor(wanted.push)
    return { read: (span) => read({ ...wanted, opened, damage, look }, span), close: () => opened.close() }
  }

  /** Reads the push again, unless that was a moment ago. Throws `not_found` once it was deleted. */
  function lookingFor(lookup: string): () => Promise<void> {
    let lookedAt = elapsed()
    return async () => {
      if (elapsed() - lookedAt < lookEvery) return
      lookedAt = elapsed()
      await requireNotDeleted(lookup)
    }
  }

  async function* read(wanted: OpenFileOfPush, { start, end }: Span): AsyncGenerator<Uint8Array> {
    const { look, opened, size, damage } = wanted
    const sealed = { id: wanted.file, key: Buffer.from(wanted.key, 'base64') }
    const last = segmentCount(size) - 1
    for (let index = Math.floor(start / SEGMENT_BYTES); index * SEGMENT_BYTES < end; index += 1) {
      await look()
      const bytes = await opened.read(segmentPosition(index, size))
      const plain = openSegment(bytes, sealed, { index, isLast: index === last })
      if (plain === null) throw reported(damage)
      relieve(plain.length)
      const from = index * SEGMENT_BYTES
      yield plain.subarray(Math.max(0, start - from), Math.min(plain.length, end - from))
    }
  }

  /** Throws `not_found` once the push was deleted or ran out of time. */
  async function findPush(lookup: string): Promise<StoredPush> {
    const push = await requireNotDeleted(lookup)
    if (push.expiresAt <= now()) throw notFound()
    return push
  }

  /** After a last view the files stay for its grants; a deletion ends the grants at once. */
  async function requireNotDeleted(lookup: string): Promise<StoredPush> {
    const push = await store.pushes.findPush(Buffer.from(lookup, 'hex'))
    if (push === null || push.deleted) throw notFound()
    return push
  }

  /** The answer has begun, so an error can only break it off: logs the damage here, because no caller can. */
  function reported(cause: DamageError): DamageError {
    store.damage.report(cause)
    return cause
  }

  return { openFile, findPush }
}

type OpenFileOfPush = FileOfPush & { opened: OpenedFile; damage: DamageError; look: () => Promise<void> }

/** Names each file of a push, so that every damaged one is counted. */
export function damageOfFile(
  { file, push }: { file: string; push: number },
  { bucket }: Pick<Store, 'bucket'>,
): DamageError {
  return new DamageError(`a file of push ${push} (${file})`, bucket === null ? 'disk' : 'bucket')
}

/** Checks what no segment authenticates: the header and the length. Throws, and then closes the file. */
async function requireIntact(
  file: OpenedFile,
  { size, damage }: { size: number; damage: DamageError },
): Promise<void> {
  try {
    const header = await file.read({ start: 0, length: HEADER_BYTES })
    if (!isHeader(header) || file.size !== sealedSize(size)) throw damage
  } catch (cause) {
    await file.close()
    throw cause
  }
}
