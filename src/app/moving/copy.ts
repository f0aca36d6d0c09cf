// Copies rows and files of a source into its target, and compares both.

import type { FilesEnd } from '../../store/files/moving-ends.ts'
import type { TargetEnd } from '../../store/moving/ends.ts'
import type { MovingBucketFolder, MovingCounts, MovingReader } from '../../store/moving-face.ts'
import type { Begun } from './beginning.ts'
import { type Comparison, compareStores } from './compare.ts'
import { type CopiedFiles, copyFiles, MissingFileError } from './copy-files.ts'
import { copyRows } from './copy-rows.ts'
import type { AskedMove } from './ends.ts'
import { newBucketFolder, openPlace } from './file-places.ts'
import { openTargetPlace } from './node-folders.ts'
import type { Plan } from './plan.ts'

/** `counts`: of the target. `damaged`: places of rows that were left out, by this try or an earlier one. */
export type Copied = Comparison & { counts: MovingCounts; files: CopiedFiles | null }

export type CopyingAll = AskedMove & { plan: Plan; begun: Begun; target: TargetEnd }

/** Goes on where an earlier try stopped. Throws `conflict` when the copy differs from the source. */
export async function copyAndCompare(all: CopyingAll): Promise<Copied> {
  const { plan, ports } = all
  const { counts, folder } = plan
  const from = await openPlace(plan.files.from, { folder, counts, held: plan.reader, onWarning: ports.say })
  try {
    const reader = plan.readerWith(from)
    await bringRows(all, reader)
    const files = await bringFiles(all, from).catch(async (cause) => {
      // The next try looks anew which pushes are whole.
      if (cause instanceof MissingFileError) await copyAnewNextTime(all)
      throw cause
    })
    const comparison = await compare(all, reader)
    return { ...comparison, counts: await all.target.reader.count(), files }
  } finally {
    await from?.close()
  }
}

/** Unless an earlier try has brought them all. */
async function bringRows(
  { plan, begun, wish, ports, target }: CopyingAll,
  reader: MovingReader,
): Promise<void> {
  if (begun.state.state !== 'copying') return
  await copyRows({
    reader,
    writer: target.writer,
    skipDamaged: wish.skipDamaged,
    onProgress: (done) => ports.onProgress('copying', done, plan.counts.pushes),
    onStep: ports.onStep,
  })
}

const copyAnewNextTime = ({ begun, target }: CopyingAll) =>
  target.writeState({ ...begun.state, state: 'copying', sourceMark: '' })

async function compare(all: CopyingAll, source: MovingReader): Promise<Comparison> {
  const { plan, ports, target } = all
  const onProgress = (done: number) => ports.onProgress('comparing', done, plan.counts.pushes)
  try {
    return await compareStores({ source, target: target.reader }, onProgress)
  } catch (cause) {
    await copyAnewNextTime(all)
    throw cause
  }
}

/** Null when they stay where they are. */
async function bringFiles(
  { plan, ports, target, wish, to: place }: CopyingAll,
  from: FilesEnd | null,
): Promise<CopiedFiles | null> {
  const { folder, mayHoldFiles } = await settleBucketFolder(plan, target)
  if (plan.files.stay || from === null) return null
  const { counts } = plan
  const opening = { folder, counts, held: null, onWarning: ports.say, wish, to: place }
  const to = await openTargetPlace(plan.files.to, opening)
  if (to === null) return null
  return copyFiles({
    reader: target.reader,
    source: from.sealed,
    target: to.sealed,
    isResumed: mayHoldFiles,
    expected: counts.bytes,
    ports,
  }).finally(to.close)
}

/** `mayHoldFiles`: an earlier try may have left some there. */
type SettledFolder = { folder: MovingBucketFolder | null; mayHoldFiles: boolean }

/** Files that stay in their bucket stay in its folder; others get one that each later try uses again. */
async function settleBucketFolder(
  { files, folder: ofSource }: Plan,
  { reader, writer }: TargetEnd,
): Promise<SettledFolder> {
  const known = await reader.readBucketFolder()
  if (files.to.kind !== 'bucket') {
    if (known?.isUsed) await writer.writeBucketFolder({ ...known, isUsed: false })
    return { folder: null, mayHoldFiles: true }
  }
  const former = known === null || known.tag === ofSource?.tag ? newBucketFolder(true) : known
  const folder = { ...(files.stay && ofSource !== null ? ofSource : former), isUsed: true }
  await writer.writeBucketFolder(folder)
  return { folder, mayHoldFiles: folder.tag === known?.tag }
}
