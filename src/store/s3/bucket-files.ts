// Sealed files in a bucket, each under its id in the folder of this database. The keys of the objects tell nothing.

import { sealedSize } from '../../crypto/sealed-stream.ts'
import { DomainError } from '../../domain/errors.ts'
import type { OpenedFile, SealedFiles } from '../files-face.ts'
import { S3Failure } from './failures.ts'
import type { Objects } from './objects.ts'
import type { PartBuffers } from './part-buffers.ts'
import { createReaders } from './readers.ts'
import { createOpenObject } from './reading.ts'
import { createUpload } from './uploading.ts'

export type BucketFilesOptions = {
  objects: Objects
  buffers: PartBuffers
  /** Milliseconds that storing may take once the last byte has arrived. */
  patience: number
  /** The key of a file. */
  keyOf: (id: string) => string
  /** Throws S3Failure unless the bucket is known to be the one that holds the files of this database. */
  requirePlace: () => Promise<void>
  onStored: () => void
  /** Is told why the store failed at a file. */
  onSpoiled: (words: string) => void
}

export type BucketFiles = SealedFiles & {
  /** Resolves when no clean-up runs any more. */
  idle(): Promise<void>
}

export function createBucketFiles(options: BucketFilesOptions): BucketFiles {
  const { objects, keyOf, requirePlace, onStored, onSpoiled } = options
  const openObject = createOpenObject(objects)
  const running = new Set<string>()
  const cleaning = new Set<Promise<void>>()
  // The row of the file stays until a later removal has seen to it.
  const readers = createReaders((id) => inBackground(removeObject(keyOf(id))))
  const upload = createUpload({ ...options, running, onBroken: abort })

  /** What cannot be aborted now goes with the removal of the file. */
  function abort(broken: { key: string; uploadId: string }): void {
    running.delete(broken.uploadId)
    inBackground(objects.abortUpload(broken))
  }

  function inBackground(work: Promise<void>): void {
    const settled = work.catch(() => undefined).finally(() => cleaning.delete(settled))
    cleaning.add(settled)
  }

  async function put(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await explained(async () => {
      await requirePlace()
      await upload(keyOf(id), bytes)
    })
    onStored()
  }

  async function has({ id, size }: { id: string; size: number }): Promise<boolean> {
    if (readers.isRemoved(id)) return false
    const found = await explained(async () => {
      await requirePlace()
      return objects.measure(keyOf(id))
    })
    return found === sealedSize(size)
  }

  async function open(id: string): Promise<OpenedFile | null> {
    if (readers.isRemoved(id)) return null
    // Before the first request, so that no removal comes between two of them.
    readers.opened(id)
    const opened = await explained(async () => {
      await requirePlace()
      return openObject(keyOf(id), () => readers.closed(id))
    }).catch((cause) => {
      readers.closed(id)
      throw cause
    })
    if (opened === null) {
      readers.closed(id)
      return null
    }
    return { ...opened, read: (span) => explained(() => opened.read(span)) }
  }

  async function remove(id: string): Promise<boolean> {
    if (!readers.remove(id)) return false
    await explained(async () => {
      await requirePlace()
      await removeObject(keyOf(id))
    })
    readers.forget(id)
    return true
  }

  /** Also the parts that a killed process left of its upload. */
  async function removeObject(key: string): Promise<void> {
    for (const upload of await objects.listUploads(key))
      if (upload.key === key && !running.has(upload.uploadId)) await objects.abortUpload(upload)
    await objects.remove(key)
  }

  /** Turns a failure of the store into a refusal of this server. */
  async function explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof S3Failure)) throw cause
      if (cause.kind === 'full') throw storeFull()
      onSpoiled(cause.message)
      throw filesUnreachable()
    }
  }

  async function idle(): Promise<void> {
    await Promise.all(cleaning)
  }

  return { put, has, open, remove, idle }
}

function storeFull(): DomainError {
  return new DomainError('disk_full', 'The store for the files of this server is full; nothing was stored.')
}

function filesUnreachable(): DomainError {
  const message = 'The files of this server cannot be reached at the moment; nothing was stored or counted.'
  return new DomainError('files_unreachable', message, { retryAfter: 5 })
}
