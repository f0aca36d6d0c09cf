// Opens the bucket for one serving process: its files, its sweep, and what an operator wants to know of it.

import type { BucketPlace } from '../../domain/bucket-place.ts'
import { DomainError } from '../../domain/errors.ts'
import type { BucketFolder } from '../files/bucket-folder.ts'
import type { FileRecords } from '../files/file-records.ts'
import type { BucketReport } from '../files-face.ts'
import { createBucketFiles } from './bucket-files.ts'
import { PATIENCE, type Patience } from './client.ts'
import { isFailure } from './failures.ts'
import { openObjects } from './open-objects.ts'
import { createOwnerMark } from './owner-mark.ts'
import { createPartBuffers } from './part-buffers.ts'
import type { Credentials } from './signed-requests.ts'
import { createStraySweep, type Pauses } from './stray-sweep.ts'

const MIB = 1024 * 1024
/** At least 5 MiB, by the rules of S3; all parts but the last have the same size, which some stores demand. */
const LEAST_PART_BYTES = 5 * MIB
const MOST_PARTS = 10_000
/** Bytes of parts that are filled or sent, for all uploads together. */
const BUFFERED_BYTES = 240 * MIB
/** The bucket is asked again only after this long. */
const LOOK_EVERY_MS = 10_000
/** How long monitoring waits for the bucket. */
const LOOK_MS = 2_000
/** The name of the mark, which no file can have. */
const MARK = '_mark'

export type BucketSettings = {
  place: BucketPlace
  credentials: Credentials
  /** The largest file that is to be stored. */
  maxFileBytes: number
  /** Tests wait for less long. */
  patience?: Patience
}

export type OpenBucketOptions = BucketSettings &
  BucketFolder & {
    records: Pick<FileRecords, 'findKnown' | 'findUnfinished'>
    onWarning: (warning: string) => void
    pauses?: Pauses
  }

export type Bucket = ReturnType<typeof openBucket>

export function openBucket(options: OpenBucketOptions) {
  const { place, tag, onWarning, patience = PATIENCE } = options
  const root = `${place.prefix}${tag}/`
  const { name, reachability, objects, countRequests } = openObjects({ ...options, onChange: onWarning })
  const owner = createOwnerMark({ ...options, objects, name, key: root + MARK })
  const files = createBucketFiles({
    objects,
    buffers: buffersFor(options.maxFileBytes, patience),
    patience: patience.whole,
    keyOf: (id) => root + id,
    requirePlace,
    isUndisputed: owner.isUndisputed,
    onStored: reachability.stored,
    onSpoiled: reachability.spoiled,
  })
  const { sweep, ...job } = createStraySweep({ ...options, objects, root, owner, isRunning: files.isRunning })

  /** Reports a bucket without our files like one that does not work. */
  async function requirePlace(): Promise<void> {
    await owner.confirm().catch((cause) => {
      if (isFailure(cause, 'misplaced')) reachability.failed(cause.message, cause.kind)
      throw cause
    })
  }

  /** Throws `conflict` when the bucket lacks our files. A bucket that does not work does not keep the server from starting. */
  async function confirm(): Promise<void> {
    await requirePlace().catch((cause) => {
      if (isFailure(cause, 'misplaced'))
        throw new DomainError('conflict', `The bucket ${name} cannot be used: ${cause.message}.`)
    })
  }

  /** Removes every file of this database, and the mark last. No server may use them any more. */
  async function removeAll(): Promise<number> {
    let removed = 0
    for (let after: string | null = null; ; ) {
      const { items, next } = await objects.list(root, after)
      for (const { key } of items.filter((item) => item.key !== root + MARK)) {
        await objects.remove(key)
        removed += 1
      }
      after = next
      if (after === null) break
    }
    await objects.remove(root + MARK)
    return removed
  }

  const lookNow = createLook(async () => {
    await requirePlace()
    await objects.measure(root + MARK)
  })
  const report: BucketReport = {
    name,
    findProblem: async () => {
      await lookNow()
      return reachability.problem() ?? owner.problem()
    },
    isFull: reachability.isFull,
    countRequests,
  }

  return { files, confirm, removeAll, report, job, idle: files.idle, sweep }
}

/** Looks now and then, however often it is called. Never takes long: what a slow look finds is told the next time. */
function createLook(look: () => Promise<void>): () => Promise<void> {
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> = Promise.resolve()
  return async () => {
    if (performance.now() - lookedAt >= LOOK_EVERY_MS) {
      lookedAt = performance.now()
      looking = look().catch(() => undefined)
    }
    await Promise.race([looking, Bun.sleep(LOOK_MS)])
  }
}

/** Parts so large that the largest file has no more of them than a store takes. */
function buffersFor(maxFileBytes: number, patience: Patience) {
  // Sealing adds less than a thousandth.
  const needed = Math.ceil((maxFileBytes * 1.001) / MOST_PARTS / MIB) * MIB
  const bytes = Math.max(LEAST_PART_BYTES, needed)
  return createPartBuffers({
    bytes,
    most: Math.max(4, Math.floor(BUFFERED_BYTES / bytes)),
    patience: patience.whole,
  })
}
