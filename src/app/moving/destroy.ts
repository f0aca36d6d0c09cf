// Destroys what a source holds that was moved away: files first, and last what knows where they are.

import { resolve } from 'node:path'
import { dataFolder } from '../../store/folder/data-folder.ts'
import type { AskedMove } from './ends.ts'
import { openPlace, planFiles } from './file-places.ts'
import { findKeyPlaces } from './keys.ts'
import { NOTHING } from './plan.ts'

export async function destroySource({ wish, ports: { say }, from }: AskedMove): Promise<void> {
  const folder = await from.findFormerFolder()
  const plan = planFiles(wish, folder)
  if (!plan.stay) {
    const files = await openPlace(plan.from, { folder, counts: NOTHING, held: null, onWarning: say })
    await files?.removeAll().finally(files.close)
    if (files === null && folder?.isUsed)
      say('The files of the source remain in its bucket, because --from-files-url does not name it.')
  }
  const { to } = findKeyPlaces(wish)
  const inFolder = wish.from.kind === 'folder' ? dataFolder(resolve(wish.from.path)).key : null
  await from.destroy({ keepKey: to !== null && resolve(to) === inFolder })
}
