// What has to be true at both ends before anything of a source is destroyed.

import { DomainError } from '../../domain/errors.ts'
import type { SealedFiles } from '../../store/files-face.ts'
import { notLeft } from '../../store/moving/ends.ts'
import type { MovingFile, MovingReader } from '../../store/moving-face.ts'
import { batchesOf } from './batches.ts'
import type { AskedMove } from './ends.ts'
import { openPlace, planFiles } from './file-places.ts'
import { areKept, requireNamed } from './kept-files.ts'

const AT_ONCE = 8

/**
 * Throws `conflict` unless the source was left by this move, and the target still holds what came with it. Every row and file was
 * compared before the target was confirmed, and its rows say that it was: a target that was set back to before that does not. It
 * may have been served since, so its rows may differ by now. A file is never written twice: one that is there is the one that was
 * compared.
 */
export async function requireKept(move: AskedMove, id: string): Promise<void> {
  const { from, to } = move
  const away = await from.findMovedAway()
  if (away?.id !== id || !away.isSettled) throw new DomainError('conflict', notLeft(from.name))
  if ((await to.findArrived()) !== id) throw lost(move)
  await to.reading((reader) => requireFilesThere(move, reader))
}

/** The source may be the last place that has the data. */
export function lost({ from, to }: AskedMove): DomainError {
  return new DomainError(
    'conflict',
    `${to.name} does not hold what was moved there: it was set back to before the move was confirmed, or something else is in its ` +
      `place. Nothing in ${from.name} was destroyed, and nothing is copied again, because what was read meanwhile could be ` +
      'opened a second time. Bring the former target back, or a backup of it.',
  )
}

async function requireFilesThere(move: AskedMove, reader: MovingReader): Promise<void> {
  const { wish, ports, from, to } = move
  const former = await from.findFormerFolder()
  const folder = await reader.readBucketFolder()
  const files = planFiles(wish, former)
  const kept = { place: files.to, folder }
  // Otherwise they are not destroyed.
  if (areKept({ place: files.from, folder: former }, kept)) return
  const counts = await reader.count()
  if (counts.files === 0) return
  requireNamed(kept)
  const end = await openPlace(files.to, { folder, counts, held: reader, onWarning: ports.say })
  try {
    const missing = end === null ? 'all files' : await findMissing(reader, end.sealed)
    if (missing !== null) throw bereft(missing, { from: from.name, to: to.name })
  } finally {
    await end?.close()
  }
}

/** Names a file that rows name and that is not there. */
export async function findMissing(
  reader: Pick<MovingReader, 'readFiles'>,
  files: Pick<SealedFiles, 'has'>,
): Promise<string | null> {
  const suspects = new Set<string>()
  for await (const { items } of batchesOf(reader.readFiles))
    for (const { id } of await withoutFile(items, files)) suspects.add(id)
  if (suspects.size === 0) return null
  // A push may have expired between the two looks.
  for await (const { items } of batchesOf(reader.readFiles)) {
    const still = items.filter(({ id }) => suspects.has(id))
    const [file] = await withoutFile(still, files)
    if (file !== undefined) return `a file of push ${file.pushId}`
  }
  return null
}

async function withoutFile(
  files: readonly MovingFile[],
  { has }: Pick<SealedFiles, 'has'>,
): Promise<MovingFile[]> {
  const missing: MovingFile[] = []
  const waiting = [...files]
  const lane = async () => {
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop())
      if (!(await has(file))) missing.push(file)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return missing
}

function bereft(missing: string, { from, to }: { from: string; to: string }): DomainError {
  return new DomainError(
    'conflict',
    `${to} lacks files that were moved there (${missing}), or they are at another place than this command names. Nothing in ${from} ` +
      'was destroyed.',
  )
}
