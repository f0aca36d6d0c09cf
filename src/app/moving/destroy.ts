// Destroys what a source holds that was moved away: files first, and last what knows where they are. What the target uses stays,
// by whatever name this command calls it.

import { resolve } from 'node:path'
import { dataFolder } from '../../store/folder/data-folder.ts'
import type { MovingBucketFolder } from '../../store/moving-face.ts'
import type { AskedMove } from './ends.ts'
import { type FilePlan, nameFiles, openPlace, planFiles } from './file-places.ts'
import { areKept, requireNamed } from './kept-files.ts'
import { decideKey } from './kept-key.ts'
import { belongsToSource, notOfSource } from './node-folders.ts'
import { NOTHING } from './plan.ts'

/**
 * Call `requireKept` right before. Throws `conflict` before anything is destroyed when it cannot be said what the target uses.
 */
export async function destroySource(move: AskedMove, id: string): Promise<void> {
  const { wish, ports, from, to } = move
  const key = decideKey(wish)
  const folder = await from.findFormerFolder()
  const files = planFiles(wish, folder)
  const kept = { place: files.to, folder: await to.findFormerFolder() }
  requireNamed(kept)
  if (!areKept({ place: files.from, folder }, kept)) await removeFiles(move, { files, folder })
  // After a move of the files alone into a bucket, there may be others on the disk.
  const onDisk = wish.from.kind === 'folder' ? dataFolder(resolve(wish.from.path)).files : null
  const keepFiles = onDisk !== null && areKept({ place: { kind: 'disk', path: onDisk }, folder: null }, kept)
  await from.destroy({ id, keepKey: key.isKept, keepFiles })
  if (key.isKept && key.why !== null) ports.say(key.why)
}

type Removing = { files: FilePlan; folder: MovingBucketFolder | null }

async function removeFiles(move: AskedMove, { files, folder }: Removing): Promise<void> {
  const { say } = move.ports
  if (!(await belongsToSource(files.from, move))) return say(notOfSource(nameFiles(files.from)))
  const end = await openPlace(files.from, { folder, counts: NOTHING, held: null, onWarning: say })
  await end?.removeAll().finally(end.close)
  if (end === null && folder?.isUsed)
    say('The files of the source remain in its bucket, because --from-files-url does not name it.')
}
