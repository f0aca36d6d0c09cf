// Tries everything that the server needs of a bucket with an object of its own, for the doctor.

import { randomBase32, randomKey } from '../../crypto/random.ts'
import type { BucketPlace } from '../../domain/bucket-place.ts'
import { isFailure, S3Failure } from './failures.ts'
import { type Objects, openObjects } from './objects.ts'
import type { Credentials } from './signed-requests.ts'

export type ProbeStep = 'write' | 'read' | 'list' | 'upload' | 'delete'

/**
 * `failure`: the step that failed, with a sentence about the bucket, after which nothing else was tried but the deletion.
 * `isRefusal`: the store answers, and does not do it. `isVersioned`: the bucket keeps what is deleted.
 */
export type Probed = {
  name: string
  failure: { step: ProbeStep; words: string; isRefusal: boolean } | null
  listsUploads: boolean
  isVersioned: boolean
}

const BYTES = 4096

export async function probeBucket(where: { place: BucketPlace; credentials: Credentials }): Promise<Probed> {
  const { name, objects } = openObjects(where)
  const key = `${where.place.prefix}probe-${randomBase32(20)}`
  const probed: Probed = { name, failure: null, listsUploads: true, isVersioned: false }
  let step: ProbeStep = 'write'
  try {
    const body = randomKey(BYTES) as Buffer<ArrayBuffer>
    probed.isVersioned = (await objects.put(key, body)).isVersioned
    step = 'read'
    await readBack(objects, key, body)
    // Without the right to list, a store refuses to say that an object is missing.
    step = 'list'
    await objects.measure(`${key}-missing`)
    step = 'upload'
    probed.listsUploads = await tryUpload(objects, key)
    step = 'delete'
    await objects.remove(key)
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause)
    probed.failure = { step, words, isRefusal: !isFailure(cause, 'failing') && !isFailure(cause, 'full') }
    if (step !== 'delete') await objects.remove(key).catch(() => undefined)
  }
  return probed
}

async function readBack(objects: Objects, key: string, body: Buffer): Promise<void> {
  const [start, length] = [100, 1000]
  const found = await objects.read(key, { start, length })
  if (found === null) throw new S3Failure('failing', 'it does not find what was just written')
  if (!body.subarray(start, start + length).equals(found.bytes))
    throw new S3Failure('failing', 'it gives back something else than was written')
}

/** Begins and aborts an upload. False when the store does not list unfinished ones. */
async function tryUpload(objects: Objects, key: string): Promise<boolean> {
  const upload = await objects.beginUpload(key)
  const uploads = await objects.listUploads(key)
  await objects.abortUpload(upload)
  return uploads.length > 0
}
