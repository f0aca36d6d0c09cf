// Opens the bucket for one serving process: its files, and what an operator wants to know of it.

import type { BucketPlace } from '../../domain/bucket-place.ts'
import { DomainError } from '../../domain/errors.ts'
import type { BucketFolder } from '../files/bucket-folder.ts'
import { createBucketFiles } from './bucket-files.ts'
import { createBucketReport } from './bucket-report.ts'
import { PATIENCE, type Patience } from './client.ts'
import { isFailure } from './failures.ts'
import { openObjects } from './open-objects.ts'
import { createPartBuffers, partSizes } from './part-buffers.ts'
import { createPlaceCheck } from './place-check.ts'
import type { Credentials } from './signed-requests.ts'

export type BucketOptions = {
  place: BucketPlace
  credentials: Credentials
  /** The largest file that is to be stored. */
  maxFileBytes: number
  /** Tests wait for less long. */
  patience?: Patience
}

export type OpenBucketOptions = BucketOptions & BucketFolder & { onWarning: (warning: string) => void }

export type Bucket = ReturnType<typeof openBucket>

export function openBucket(options: OpenBucketOptions) {
  const { place, tag, doubt, maxFileBytes, onWarning, patience = PATIENCE } = options
  const root = `${place.prefix}${tag}/`
  const { name, reachability, objects, countRequests } = openObjects({ ...options, onChange: onWarning })
  const confirmPlace = createPlaceCheck(doubt, async (id) => (await objects.measure(root + id)) !== null)
  const files = createBucketFiles({
    objects,
    buffers: createPartBuffers({ ...partSizes(maxFileBytes), patience: patience.whole }),
    patience: patience.whole,
    keyOf: (id) => root + id,
    requirePlace,
    onStored: reachability.stored,
    onSpoiled: reachability.spoiled,
  })
  const report = createBucketReport({ name, countRequests, reachability, look })

  /** Reports a bucket without our files like one that does not work. */
  async function requirePlace(): Promise<void> {
    await confirmPlace().catch((cause) => {
      if (isFailure(cause, 'misplaced')) reachability.failed(cause.message, cause.kind)
      throw cause
    })
    reachability.placed()
  }

  async function look(): Promise<void> {
    await requirePlace()
    await objects.measure(`${root}look`)
  }

  /** Throws `conflict` when the bucket lacks our files. A bucket that does not work does not keep the server from starting. */
  async function confirm(): Promise<void> {
    await confirmPlace().catch((cause) => {
      if (isFailure(cause, 'misplaced'))
        throw new DomainError('conflict', `The bucket ${name} cannot be used: ${cause.message}.`)
    })
  }

  return { files, confirm, report, idle: files.idle }
}
