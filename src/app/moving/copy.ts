// Copies rows and files of a source into its target, and compares both.

import type { FilesEnd } from '../../store/files/moving-ends.ts'
import type { TargetEnd } from '../../store/moving/ends.ts'
import type { MovingBucketFolder, MovingReader } from '../../store/moving-face.ts'
import type { Begun } from './beginning.ts'
import { type Compared, compareStores } from './compare.ts'
import { type CopiedFiles, copyFiles } from './copy-files.ts'
import { copyRows } from './copy-rows.ts'
import type { AskedMove } from './ends.ts'
import { newBucketFolder, openPlace } from './file-places.ts'
import { openTargetPlace } from './node-folders.ts'
import type { Plan } from './plan.ts'

/** `damaged`: places of rows that were left out. */
export type Copied = { compared: Compared; files: CopiedFiles | null; damaged: string[] }

export type CopyingAll = AskedMove & { plan: Plan; begun: Begun; target: TargetEnd }

/** Goes on where an earlier try stopped. Throws `conflict` when the copy differs from the source. */
export async function copyAndCompare(all: CopyingAll): Promise<Copied> {
  const { plan, ports } = all
  const { counts, folder } = plan
  const from = await openPlace(plan.files.from, { folder, counts, held: plan.reader, onWarning: ports.say })
  try {
    const reader = plan.readerWith(from)
    const damaged = await bringRows(all, reader)
    const files = await bringFiles(all, from)
    return { compared: await compare(all, reader), files, damaged }
  } finally {
    await from?.close()
  }
}

/** Unless an earlier try has brought them all. Resolves to the places of rows that were left out. */
async function bringRows(
  { plan, begun, wish, ports, target }: CopyingAll,
  reader: MovingReader,
): Promise<string[]> {
  const damaged: string[] = []
  if (begun.state.state !== 'copying') return damaged
  await copyRows({
    reader,
    writer: target.writer,
    skipDamaged: wish.skipDamaged,
    onDamaged: (places) => damaged.push(...places),
    onProgress: (done) => ports.onProgress('copying', done, plan.counts.pushes),
    onStep: ports.onStep,
  })
  return damaged
}

/** After a difference, the next try copies everything anew. */
async function compare({ plan, begun, ports, target }: CopyingAll, source: MovingReader): Promise<Compared> {
  const onProgress = (done: number) => ports.onProgress('comparing', done, plan.counts.pushes)
  try {
    return await compareStores({ source, target: target.reader }, onProgress)
  } catch (cause) {
    await target.writeState({ ...begun.state, state: 'copying', sourceMark: '' })
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
