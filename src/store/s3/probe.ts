// Tries, for the doctor, every operation that the server needs of a bucket, with a temporary object.

import { randomBase32, randomKey } from '../../crypto/random.ts'
import type { BucketPlace } from '../../domain/bucket-place.ts'
import { createClient } from './client.ts'
import { S3Failure } from './failures.ts'
import { createObjects, type Objects } from './objects.ts'
import type { S3Credentials } from './signed-requests.ts'

/** `failure` continues a sentence about the bucket. `isVersioned`: the bucket keeps deleted objects. */
type Probed = { name: string; failure: S3Failure | null; isVersioned: boolean }

const BYTES = 4096

export async function probeBucket(where: {
  place: BucketPlace
  credentials: S3Credentials
}): Promise<Probed> {
  const { name, send } = createClient({ ...where, onChange: () => undefined })
  const objects = createObjects(send)
  const key = `${where.place.prefix}probe-${randomBase32(20)}`
  try {
    return { name, failure: null, ...(await tryAll(objects, key)) }
  } catch (failure) {
    await objects.remove(key).catch(() => undefined)
    if (!(failure instanceof S3Failure)) throw failure
    return { name, failure, isVersioned: false }
  }
}

async function tryAll(objects: Objects, key: string): Promise<Pick<Probed, 'isVersioned'>> {
  const body = new Uint8Array(randomKey(BYTES))
  const { isVersioned } = await objects.put(key, body)
  const [start, length] = [100, 1000]
  const found = await objects.read(key, { start, length })
  if (found === null || !body.subarray(start, start + length).every((byte, n) => byte === found.bytes[n]))
    throw new S3Failure('failing', 'it gives back something else than was written')
  // Check a missing object too: without the right to list, a store does not say that it is missing.
  await objects.measure(`${key}-missing`)
  await objects.abortUpload(await objects.beginUpload(key))
  await objects.remove(key)
  return { isVersioned }
}
