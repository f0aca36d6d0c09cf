// Where the files of a move are, and where they go.

import { join, resolve } from 'node:path'
import { randomBase32 } from '../../crypto/random.ts'
import { nameBucket } from '../../domain/bucket-place.ts'
import type { BucketSettings } from '../../settings/bucket.ts'
import { addSession, ownSessions } from '../../store/files/bucket-folder.ts'
import { type FilesEnd, openBucketEnd, openDiskEnd } from '../../store/files/moving-ends.ts'
import type { MovingBucketFolder, MovingCounts } from '../../store/moving-face.ts'
import type { MovePlace, MoveWish } from './wish.ts'

export type FilePlace =
  | { kind: 'disk'; path: string }
  | { kind: 'bucket'; settings: BucketSettings }
  | { kind: 'unknown' }

export type FilePlan = {
  from: FilePlace
  to: FilePlace
  /** The files are where they will be needed. */
  stay: boolean
}

const TAG_CHARACTERS = 26

type Wish = Pick<MoveWish, 'from' | 'to' | 'fromBucket' | 'toBucket' | 'fromDataDir' | 'toDataDir'>

export function planFiles(wish: Wish, folder: MovingBucketFolder | null): FilePlan {
  const bucketOf = (settings: BucketSettings | null): FilePlace =>
    settings === null ? { kind: 'unknown' } : { kind: 'bucket', settings }
  const from = folder?.isUsed ? bucketOf(wish.fromBucket) : diskOf(wish.from, wish.fromDataDir)
  const to = wish.toBucket === null ? diskOf(wish.to, wish.toDataDir) : bucketOf(wish.toBucket)
  return { from, to, stay: from.kind !== 'unknown' && describe(from) === describe(to) }
}

function diskOf(place: MovePlace, dataDir: string | null): FilePlace {
  const folder = place.kind === 'folder' ? place.path : dataDir
  return folder === null ? { kind: 'unknown' } : { kind: 'disk', path: join(resolve(folder), 'files') }
}

function describe(place: FilePlace): string {
  if (place.kind === 'bucket') return JSON.stringify(place.settings.place)
  return place.kind === 'disk' ? place.path : ''
}

export function nameFiles(place: FilePlace): string {
  if (place.kind === 'bucket') return `the bucket ${nameBucket(place.settings.place)}`
  return place.kind === 'disk' ? place.path : 'nowhere'
}

type Found = { folder: MovingBucketFolder | null; counts: MovingCounts; granted: boolean }

/** What is missing, a sentence each. */
export function fileNeeds(wish: Wish, plan: FilePlan, found: Found): string[] {
  const hasFiles = found.counts.files > 0 || found.granted
  return [...sourceNeeds(wish, plan, { ...found, hasFiles }), ...targetNeeds(wish, plan, hasFiles)]
}

function sourceNeeds(
  { fromBucket }: Wish,
  { from }: FilePlan,
  { folder, hasFiles }: Found & { hasFiles: boolean },
): string[] {
  if (folder?.isUsed)
    return hasFiles && fromBucket === null
      ? ['The files of the source are in a bucket: name it with --from-files-url.']
      : []
  const needs: string[] = []
  if (fromBucket !== null)
    needs.push('The files of the source are on a disk, not in a bucket: leave --from-files-url out.')
  if (hasFiles && from.kind === 'unknown')
    needs.push(
      'The files of the source are on the disk of its node: name its data folder with --from-data-dir.',
    )
  return needs
}

function targetNeeds(wish: Wish, { from, to, stay }: FilePlan, hasFiles: boolean): string[] {
  if (wish.from.kind === 'folder' && stay && from.kind === 'disk')
    return [
      `${wish.from.path} holds the database of the source: name another data folder for the node with --data-dir.`,
    ]
  return hasFiles && to.kind === 'unknown'
    ? [
        'The files need a place: name a bucket with --files-url, or the data folder of the node with --data-dir.',
      ]
    : []
}

type OnWarning = (warning: string) => void
type Opening = {
  /** The folder in a bucket. */
  folder: MovingBucketFolder | null
  counts: MovingCounts
  /** Whether the files must be there. */
  isSource: boolean
  onWarning: OnWarning
}

export async function openPlace(
  place: FilePlace,
  { folder, counts, isSource, onWarning }: Opening,
): Promise<FilesEnd | null> {
  if (place.kind === 'unknown') return null
  if (place.kind === 'disk') return openDiskEnd(place.path)
  if (folder === null) return null
  const { tag, session } = folder
  return openBucketEnd({
    settings: { ...place.settings, maxFileBytes: Math.max(1, counts.largest) },
    folder: { tag, sessions: ownSessions(session), heldFiles: isSource && counts.files > 0 },
    onWarning,
  })
}

/** A new folder in a bucket, which nobody has used yet. */
export function newBucketFolder(isUsed: boolean): MovingBucketFolder {
  return { tag: randomBase32(TAG_CHARACTERS), session: addSession(null), isUsed }
}
