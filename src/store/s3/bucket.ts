// Opens the bucket for one serving process: its files, its sweep, and what an operator wants to know of it.

import type { BucketPlace } from '../../domain/bucket-place.ts'
import { DomainError } from '../../domain/errors.ts'
import type { BucketFolder } from '../files/bucket-folder.ts'
import type { FileRecords } from '../files/file-records.ts'
import { createBucketFiles } from './bucket-files.ts'
import { createBucketReport } from './bucket-report.ts'
import { PATIENCE, type Patience } from './client.ts'
import { isFailure } from './failures.ts'
import { markKeyOf } from './mark-object.ts'
import { openObjects } from './open-objects.ts'
import { createOwnerMark } from './owner-mark.ts'
import { createPartBuffers, partSizes } from './part-buffers.ts'
import type { Credentials } from './signed-requests.ts'
import { createStraySweep } from './stray-sweep.ts'
import { createStraySweepJob, PAUSES, type Pauses } from './stray-sweep-job.ts'

export type BucketOptions = {
  place: BucketPlace
  credentials: Credentials
  /** The largest file that is to be stored. */
  maxFileBytes: number
  /** Tests wait for less long. */
  patience?: Patience
}

export type OpenBucketOptions = BucketOptions &
  BucketFolder & {
    records: Pick<FileRecords, 'findKnown' | 'findUnfinished'>
    onWarning: (warning: string) => void
    pauses?: Pauses
  }

export type Bucket = ReturnType<typeof openBucket>

export function openBucket(options: OpenBucketOptions) {
  const { place, tag, maxFileBytes, onWarning, patience = PATIENCE, pauses = PAUSES } = options
  const root = `${place.prefix}${tag}/`
  const markKey = markKeyOf(place, tag)
  const { name, reachability, objects, countRequests } = openObjects({ ...options, onChange: onWarning })
  const holds = async (id: string) => (await objects.measure(root + id)) !== null
  const owner = createOwnerMark({ ...options, objects, holds, name, key: markKey })
  const files = createBucketFiles({
    objects,
    buffers: createPartBuffers({ ...partSizes(maxFileBytes), patience: patience.whole }),
    patience: patience.whole,
    keyOf: (id) => root + id,
    requirePlace,
    isUndisputed: owner.isUndisputed,
    onStored: reachability.stored,
    onSpoiled: reachability.spoiled,
  })
  const { isRunning } = files
  const strays = createStraySweep({ ...options, objects, root, owner, isRunning, pagePause: pauses.page })
  const job = createStraySweepJob({ ...strays, owner, pauses })
  const report = createBucketReport({ name, countRequests, reachability, owner, look })

  /** Reports a bucket without our files like one that does not work. */
  async function requirePlace(): Promise<void> {
    await owner.confirm().catch((cause) => {
      if (isFailure(cause, 'misplaced')) reachability.failed(cause.message, cause.kind)
      throw cause
    })
    reachability.placed()
  }

  async function look(): Promise<void> {
    await requirePlace()
    await objects.measure(markKey)
  }

  /** Throws `conflict` when the bucket lacks our files. A bucket that does not work does not keep the server from starting. */
  async function confirm(): Promise<void> {
    await owner.confirm().catch((cause) => {
      if (isFailure(cause, 'misplaced'))
        throw new DomainError('conflict', `The bucket ${name} cannot be used: ${cause.message}.`)
    })
  }

  return { files, confirm, report, job, idle: files.idle, sweep: strays.sweep }
}
