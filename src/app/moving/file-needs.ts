// What the command line of a move lacks for its files, a sentence each.

import type { MovingBucketFolder, MovingCounts } from '../../store/moving-face.ts'
import type { FilePlan, FilesWish } from './file-places.ts'

type Found = { folder: MovingBucketFolder | null; counts: MovingCounts; granted: boolean }

export function fileNeeds(wish: FilesWish, plan: FilePlan, found: Found): string[] {
  const hasFiles = found.counts.files > 0 || found.granted
  return [...sourceNeeds(wish, plan, { ...found, hasFiles }), ...targetNeeds(wish, plan, hasFiles)]
}

function sourceNeeds(
  { fromBucket }: FilesWish,
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

function targetNeeds(wish: FilesWish, { from, to, stay }: FilePlan, hasFiles: boolean): string[] {
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
