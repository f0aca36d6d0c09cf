// Opens, checks and reads the files behind grants. A deletion of the push aborts a running read.

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

/** A range of bytes. `end` is exclusive. */
export type Span = { start: number; end: number }

/** An open file. On a disk it stays readable after its removal, until `close`. */
export type ReadableFile = {
  /**
   * Yields authenticated plain bytes, one segment at a time. Throws when the file was altered or its push
   * deleted.
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
  /** A monotonic clock, in milliseconds. */
  elapsed: () => number
  /**
   * Milliseconds between two checks, during a read, that the push is not deleted; 0 checks before each
   * segment.
   */
  lookEvery: number
}

export function createGrantedFiles({ store, now, relieve, elapsed, lookEvery }: GrantedFilesOptions) {
  /** Throws `not_found` for a destroyed file, and DamageError for a missing or altered one. */
  async function openFile(wanted: FileOfPush): Promise<ReadableFile> {
    const { id } = await findPush(wanted.push)
    const damage = damageOfFile({ file: wanted.file, push: id }, store)
    const opened = await store.files.open(wanted.file)
    if (opened === null) throw await explainMissing(wanted.push, damage)
    await requireIntact(opened, { size: wanted.size, damage })
    const look = lookingFor(wanted.push)
    return { read: (span) => read({ ...wanted, opened, damage, look }, span), close: () => opened.close() }
  }

  /** Returns a check, throttled to `lookEvery`, that throws `not_found` once the push is deleted. */
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
      const position = segmentPosition(index, size)
      const bytes = await opened.read(position)
      const plain = openSegment(bytes, sealed, { index, isLast: index === last })
      if (plain === null && bytes.length < position.length) throw await explainMissing(wanted.push, damage)
      if (plain === null) throw reported(damage)
      relieve(plain.length)
      const from = index * SEGMENT_BYTES
      yield plain.subarray(Math.max(0, start - from), Math.min(plain.length, end - from))
    }
  }

  /** Reports missing bytes as damage, unless the push has expired, which removes its files. */
  async function explainMissing(lookup: string, damage: DamageError): Promise<Error> {
    return (await findPush(lookup)).expiredOn === null ? reported(damage) : notFound()
  }

  /** Throws `not_found` for a push that is deleted or past its time. */
  async function findPush(lookup: string): Promise<StoredPush> {
    const push = await requireNotDeleted(lookup)
    if (push.expiresAt <= now()) throw notFound()
    return push
  }

  /**
   * Throws if the push was deleted. An expiry by the last view does not count: its grants still give access
   * to the files.
   */
  async function requireNotDeleted(lookup: string): Promise<StoredPush> {
    const push = await store.pushes.findPush(Buffer.from(lookup, 'hex'))
    if (push === null || push.deleted) throw notFound()
    return push
  }

  /** Report the damage here, because the caller cannot: the answer has begun, so an error only aborts it. */
  function reported(cause: DamageError): DamageError {
    store.damage.report(cause)
    return cause
  }

  return { openFile, findPush }
}

type OpenFileOfPush = FileOfPush & { opened: OpenedFile; damage: DamageError; look: () => Promise<void> }

/** Reports damage by file and push, so that every damaged file is counted. */
export function damageOfFile(
  { file, push }: { file: string; push: number },
  { bucket }: Pick<Store, 'bucket'>,
): DamageError {
  return new DamageError(`a file of push ${push} (${file})`, bucket === null ? 'disk' : 'bucket')
}

/** Checks the header and the length, which no segment authenticates. Closes the file before it throws. */
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
