// Sealed files in a bucket, each under its id in the folder of this database, and facts about the bucket for
// the operator. The keys of the objects reveal nothing.

import { sealedSize } from '../../crypto/sealed-stream.ts'
import type { BucketPlace } from '../../domain/bucket-place.ts'
import { DomainError } from '../../domain/errors.ts'
import type { BucketReport, OpenedFile, SealedFiles } from '../files-contract.ts'
import { createClient, PATIENCE, type S3Timeouts } from './client.ts'
import { S3Failure } from './failures.ts'
import { createObjects } from './objects.ts'
import { openObject } from './reading.ts'
import type { S3Credentials } from './signed-requests.ts'
import { createPartBuffers, createUpload, partSizes } from './uploading.ts'

export type BucketOptions = {
  place: BucketPlace
  credentials: S3Credentials
  /** The size of the largest file, in bytes. */
  maxFileBytes: number
  /** Shorter timeouts for tests. */
  patience?: S3Timeouts
}

/** `tag` is the folder of this database in the bucket. */
type OpenBucketOptions = BucketOptions & { tag: string; onWarning: (warning: string) => void }

/** The minimum time between health checks of the bucket, because each costs a request. */
const LOOK_EVERY_MS = 10_000
/** The timeout of a health check of the bucket. */
const LOOK_MS = 2_000

export function openBucket(options: OpenBucketOptions): { files: SealedFiles; report: BucketReport } {
  const { place, tag, maxFileBytes, onWarning, patience = PATIENCE } = options
  const keyOf = (id: string) => `${place.prefix}${tag}/${id}`
  const { send, ...client } = createClient({ ...options, onChange: onWarning })
  const objects = createObjects(send)
  const upload = createUpload(
    objects,
    createPartBuffers({ ...partSizes(maxFileBytes), patience: patience.whole }),
  )
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<unknown> = Promise.resolve()

  async function has({ id, size }: { id: string; size: number }): Promise<boolean> {
    return (await explained(objects.measure(keyOf(id)))) === sealedSize(size)
  }

  async function open(id: string): Promise<OpenedFile | null> {
    const opened = await explained(openObject(objects, keyOf(id)))
    return opened && { ...opened, read: (span) => explained(opened.read(span)) }
  }

  /** Checks the bucket. Always returns soon: if a check is slow, the next call gets its result. */
  async function findProblem(): Promise<string | null> {
    if (performance.now() - lookedAt >= LOOK_EVERY_MS) {
      lookedAt = performance.now()
      looking = objects.measure(keyOf('look')).catch(() => null)
    }
    await Promise.race([looking, Bun.sleep(LOOK_MS)])
    return client.problem()
  }

  return {
    files: {
      put: (id, bytes) => explained(upload(keyOf(id), bytes)),
      has,
      open,
      remove: (id) => explained(objects.remove(keyOf(id))),
    },
    report: { ...client, findProblem },
  }
}

/** Turns a failure of the store into a refusal of this server. */
async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof S3Failure)) throw cause
    if (cause.kind === 'full') throw new DomainError('disk_full', FULL)
    throw new DomainError('files_unreachable', UNREACHABLE, { retryAfter: 5 })
  }
}

const FULL = 'The store for the files of this server is full; nothing was stored.'
const UNREACHABLE = 'The files of this server cannot be reached at the moment; nothing was stored or counted.'
