// Where the files of a move are and where they go, and how both places are opened.

import { join, resolve } from 'node:path'
import { randomBase32 } from '../../crypto/random.ts'
import { nameBucket } from '../../domain/bucket-place.ts'
import type { BucketSettings } from '../../settings/bucket.ts'
import { addSession, HELD_LOOKS, ownSessions } from '../../store/files/bucket-folder.ts'
import { type FilesEnd, openBucketEnd, openDiskEnd } from '../../store/files/moving-ends.ts'
import { isSamePlace } from '../../store/folder/same-place.ts'
import type { MovingBucketFolder, MovingCounts, MovingReader } from '../../store/moving-face.ts'
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

/** What of a move says where its files are. */
export type FilesWish = Pick<
  MoveWish,
  'from' | 'to' | 'fromBucket' | 'toBucket' | 'fromDataDir' | 'toDataDir'
>

export function planFiles(wish: FilesWish, folder: MovingBucketFolder | null): FilePlan {
  const bucketOf = (settings: BucketSettings | null): FilePlace =>
    settings === null ? { kind: 'unknown' } : { kind: 'bucket', settings }
  const from = folder?.isUsed ? bucketOf(wish.fromBucket) : diskOf(wish.from, wish.fromDataDir)
  const to = wish.toBucket === null ? diskOf(wish.to, wish.toDataDir) : bucketOf(wish.toBucket)
  return { from, to, stay: isSameFiles(from, to) }
}

function diskOf(place: MovePlace, dataDir: string | null): FilePlace {
  const folder = place.kind === 'folder' ? place.path : dataDir
  return folder === null ? { kind: 'unknown' } : { kind: 'disk', path: join(resolve(folder), 'files') }
}

/** A bucket under another address counts as another one: files go into a folder of their own there. */
function isSameFiles(one: FilePlace, other: FilePlace): boolean {
  if (one.kind === 'bucket' && other.kind === 'bucket')
    return JSON.stringify(one.settings.place) === JSON.stringify(other.settings.place)
  return one.kind === 'disk' && other.kind === 'disk' && isSamePlace(one.path, other.path)
}

export function nameFiles(place: FilePlace): string {
  if (place.kind === 'bucket') return `the bucket ${nameBucket(place.settings.place)}`
  return place.kind === 'disk' ? place.path : 'nowhere'
}

export type OpeningPlace = {
  /** The folder in a bucket. */
  folder: MovingBucketFolder | null
  counts: MovingCounts
  /** Names the files that must be there; null for a place where files go, or which may be empty. */
  held: Pick<MovingReader, 'readFiles'> | null
  onWarning: (warning: string) => void
}

export async function openPlace(
  place: FilePlace,
  { folder, counts, held, onWarning }: OpeningPlace,
): Promise<FilesEnd | null> {
  if (place.kind === 'unknown') return null
  if (place.kind === 'disk') return openDiskEnd(place.path)
  if (folder === null) return null
  const { tag, session } = folder
  return openBucketEnd({
    settings: { ...place.settings, maxFileBytes: Math.max(1, counts.largest) },
    folder: { tag, sessions: ownSessions(session), findHeld: () => findHeld(held) },
    onWarning,
  })
}

async function findHeld(held: OpeningPlace['held']): Promise<string[]> {
  const found = await held?.readFiles(null)
  return found?.items.slice(0, HELD_LOOKS).map(({ id }) => id) ?? []
}

/** A new folder in a bucket, which nobody has used yet. */
export function newBucketFolder(isUsed: boolean): MovingBucketFolder {
  return { tag: randomBase32(TAG_CHARACTERS), session: addSession(null), isUsed }
}
