// Tries everything that the server needs of a bucket with an object of its own, for the doctor.

import { randomBase32, randomKey } from '../../crypto/random.ts'
import type { BucketPlace } from '../../domain/bucket-place.ts'
import { isFailure, S3Failure } from './failures.ts'
import type { Objects } from './objects.ts'
import { openObjects } from './open-objects.ts'
import type { Credentials } from './signed-requests.ts'

export type ProbeStep = 'write' | 'read' | 'list' | 'upload' | 'delete'

/**
 * `failures` are sentences about the bucket, by what was tried. After a failed write nothing else is. `isRefusal`: the store
 * answers, and does not do it. `isVersioned`: the bucket keeps what is deleted.
 */
export type Probed = {
  name: string
  failures: { step: ProbeStep; words: string; isRefusal: boolean }[]
  listsUploads: boolean
  isVersioned: boolean
}

const BYTES = 4096

export async function probeBucket(where: { place: BucketPlace; credentials: Credentials }): Promise<Probed> {
  const { name, objects } = openObjects(where)
  const key = `${where.place.prefix}probe-${randomBase32(20)}`
  const failures: Probed['failures'] = []

  async function attempt<T>(step: ProbeStep, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (cause) {
      const words = cause instanceof Error ? cause.message : String(cause)
      failures.push({ step, words, isRefusal: !isFailure(cause, 'failing') && !isFailure(cause, 'full') })
      return null
    }
  }

  const body = randomKey(BYTES) as Buffer<ArrayBuffer>
  const stored = await attempt('write', () => objects.put(key, body))
  if (stored === null) return { name, failures, listsUploads: true, isVersioned: false }
  await attempt('read', () => readBack(objects, key, body))
  await attempt('list', () => findListed(objects, key))
  const listsUploads = await attempt('upload', () => tryUpload(objects, key))
  await attempt('delete', () => objects.remove(key))
  return { name, failures, listsUploads: listsUploads !== false, ...stored }
}

async function readBack(objects: Objects, key: string, body: Buffer): Promise<void> {
  const [start, length] = [100, 1000]
  const found = await objects.read(key, { start, length })
  if (found === null) throw new S3Failure('failing', 'it does not find what was just written')
  const isEqual = body.subarray(start, start + length).equals(found.bytes)
  if (!isEqual || found.size !== body.length)
    throw new S3Failure('failing', 'it gives back something else than was written')
}

async function findListed(objects: Objects, key: string): Promise<void> {
  const keys = await objects.listKeys(key)
  if (!keys.includes(key)) throw new S3Failure('failing', 'its listing lacks an object')
}

/** Begins and aborts an upload. False when the store does not list unfinished ones. */
async function tryUpload(objects: Objects, key: string): Promise<boolean> {
  const uploadId = await objects.beginUpload(key)
  const uploads = await objects.listUploads(key)
  await objects.abortUpload({ key, uploadId })
  return uploads.some((upload) => upload.uploadId === uploadId)
}
