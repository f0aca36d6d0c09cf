// Removes what an upload left in the bucket that no row names: unfinished uploads, and objects that came into being after
// they were given up, or that a restored backup does not know.

import { DAY, HOUR, MINUTE, SECOND } from '../../domain/time.ts'
import type { FileRecords } from '../files/file-records.ts'
import type { ListedUpload, Objects, UploadMarker } from './objects.ts'
import type { OwnerMark } from './owner-mark.ts'

export type StraySweepOptions = {
  objects: Objects
  /** What all keys of this database begin with. */
  root: string
  owner: Pick<OwnerMark, 'measureAlone' | 'claimedAt'>
  isRunning: (uploadId: string) => boolean
  /** Whose files the rows name, and which uploads run, in this process or in another one. */
  records: Pick<FileRecords, 'findKnown' | 'findUnfinished'>
  /** Milliseconds between two pages of a listing. */
  pagePause: number
}

/** Uploads are left alone until this age. By then a copy of the database, which does not know ours, has noticed our mark. */
const UPLOAD_AGE = 2 * MINUTE
/** Stores tell their time in whole seconds. */
const TICK = SECOND
const OBJECT_AGE = DAY
/** Objects are listed this often, because a listing costs money. */
const LIST_EVERY = 12 * HOUR
/** How an id of a file looks. Everything else under the root is left alone. */
const ID = /^[0-9a-z]{2,64}$/

export type StraySweep = {
  /** Resolves to the number of objects and uploads that were removed. */
  sweep(): Promise<number>
  /** Ends a sweep under way soon. */
  stop(): void
}

export function createStraySweep(options: StraySweepOptions): StraySweep {
  const { objects, root, owner, isRunning, records, pagePause } = options
  const stopped = Promise.withResolvers<void>()
  let isStopped = false
  let listedAt = Number.NEGATIVE_INFINITY

  async function sweep(): Promise<number> {
    const alone = await owner.measureAlone()
    if (alone === null) return 0
    const uploads = await abortUploads()
    const isListed = performance.now() - listedAt < LIST_EVERY
    return isListed || !(alone >= OBJECT_AGE) ? uploads : uploads + (await removeObjects())
  }

  /**
   * Those of an earlier process, and those that nobody knows because an answer was lost. An upload that runs, here or in
   * another process, has its row from before its beginning. Some stores tell the time of the last part as the beginning.
   */
  async function abortUploads(): Promise<number> {
    let aborted = 0
    for (let after: UploadMarker | null = null; !isStopped; ) {
      const { items, next, now } = await objects.listUploads(root, after)
      const isOld = ({ key, uploadId, startedAt }: ListedUpload) =>
        key.startsWith(root) &&
        ID.test(idOf(key)) &&
        !isRunning(uploadId) &&
        (startedAt < (owner.claimedAt() ?? 0) + TICK || now - startedAt >= UPLOAD_AGE)
      aborted += await abortDead(items.filter(isOld))
      after = next
      if (after === null) break
    }
    return aborted
  }

  async function abortDead(old: readonly ListedUpload[]): Promise<number> {
    const unfinished = await records.findUnfinished(old.map(({ key }) => idOf(key)))
    const dead = old.filter(({ key }) => !unfinished.has(idOf(key)))
    for (const upload of dead) await objects.abortUpload(upload)
    return dead.length
  }

  function idOf(key: string): string {
    return key.slice(root.length)
  }

  async function removeObjects(): Promise<number> {
    let removed = 0
    for (let after: string | null = null; !isStopped; await pause()) {
      const page = await objects.list(root, after)
      removed += await removeUnknown(page)
      after = page.next
      if (after === null) break
    }
    if (!isStopped) listedAt = performance.now()
    return removed
  }

  async function pause(): Promise<void> {
    await Promise.race([Bun.sleep(pagePause), stopped.promise])
  }

  async function removeUnknown({ items, now }: Awaited<ReturnType<Objects['list']>>): Promise<number> {
    const old = items.filter(({ modifiedAt }) => now - modifiedAt >= OBJECT_AGE)
    const ids = old.map(({ key }) => idOf(key)).filter((id) => ID.test(id))
    const known = await records.findKnown(ids)
    const strays = ids.filter((id) => !known.has(id))
    for (const id of strays) await objects.remove(root + id)
    return strays.length
  }

  function stop(): void {
    isStopped = true
    stopped.resolve()
  }

  return { sweep, stop }
}
