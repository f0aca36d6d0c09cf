// Sealed files in a bucket, each under its id in the folder of this database. The keys of the objects tell nothing.

import { sealedSize } from '../../crypto/sealed-stream.ts'
import { DomainError } from '../../domain/errors.ts'
import type { OpenedFile, SealedFiles } from '../files-face.ts'
import { S3Failure } from './failures.ts'
import type { Objects } from './objects.ts'
import type { PartBuffers } from './part-buffers.ts'
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
  /** Whether no other database uses the same objects. */
  isUndisputed: () => Promise<boolean>
  onStored: () => void
  /** Is told why the store failed at a file. */
  onSpoiled: (words: string) => void
}

export type BucketFiles = SealedFiles & {
  /** Whether an upload of this process is under way. */
  isRunning(uploadId: string): boolean
  /** Resolves when no clean-up runs any more. */
  idle(): Promise<void>
}

export function createBucketFiles(options: BucketFilesOptions): BucketFiles {
  const { objects, keyOf, requirePlace, isUndisputed, onStored, onSpoiled } = options
  const openObject = createOpenObject(objects)
  const running = new Set<string>()
  const cleaning = new Set<Promise<void>>()
  /** How many readers each open file has, and which of these files were removed meanwhile. */
  const readers = new Map<string, number>()
  const removed = new Set<string>()
  const upload = createUpload({ ...options, running, onBroken: abort })

  /** What cannot be aborted now is found by the sweep. */
  function abort(broken: { key: string; uploadId: string }): void {
    running.delete(broken.uploadId)
    inBackground(objects.abortUpload(broken))
  }

  function inBackground(work: Promise<void>): void {
    const settled = work.catch(() => undefined).finally(() => cleaning.delete(settled))
    cleaning.add(settled)
  }

  async function put(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await refused(async () => {
      await requirePlace()
      await upload(keyOf(id), bytes)
    })
    onStored()
  }

  async function has({ id, size }: { id: string; size: number }): Promise<boolean> {
    if (removed.has(id)) return false
    const found = await refused(async () => {
      await requirePlace()
      return objects.measure(keyOf(id))
    })
    return found === sealedSize(size)
  }

  async function open(id: string): Promise<OpenedFile | null> {
    if (removed.has(id)) return null
    // Before the first request, so that no removal comes between two of them.
    readers.set(id, (readers.get(id) ?? 0) + 1)
    const opened = await refused(async () => {
      await requirePlace()
      return openObject(keyOf(id), () => closed(id))
    }).catch((cause) => {
      closed(id)
      throw cause
    })
    if (opened === null) {
      closed(id)
      return null
    }
    return { ...opened, read: (span) => refused(() => opened.read(span)) }
  }

  function closed(id: string): void {
    const left = (readers.get(id) ?? 1) - 1
    if (left > 0) return void readers.set(id, left)
    readers.delete(id)
    // Its row stays until a later removal has seen to it.
    if (removed.has(id)) inBackground(removeUndisputed(id))
  }

  /** A live push of another database may name it. */
  async function removeUndisputed(id: string): Promise<void> {
    if (!(await isUndisputed())) throw filesUnreachable()
    await objects.remove(keyOf(id))
  }

  /** What the store does wrong, as a refusal of this server. */
  async function refused<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof S3Failure)) throw cause
      if (cause.kind === 'full') throw storeFull()
      onSpoiled(cause.message)
      throw filesUnreachable()
    }
  }

  /** The object of a file that is being read stays until nobody reads it, since a store keeps nothing for readers. */
  async function remove(id: string): Promise<boolean> {
    if (readers.has(id)) {
      removed.add(id)
      return false
    }
    await refused(async () => {
      await requirePlace()
      await removeUndisputed(id)
    })
    removed.delete(id)
    return true
  }

  async function idle(): Promise<void> {
    await Promise.all(cleaning)
  }

  return { put, has, open, remove, isRunning: (uploadId) => running.has(uploadId), idle }
}

function storeFull(): DomainError {
  return new DomainError('disk_full', 'The store for the files of this server is full; nothing was stored.')
}

function filesUnreachable(): DomainError {
  const message = 'The files of this server cannot be reached at the moment; nothing was stored or counted.'
  return new DomainError('files_unreachable', message, { retryAfter: 5 })
}
