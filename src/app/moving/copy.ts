// Copies rows and files of a source into its target, and compares both.

import type { FilesEnd } from '../../store/files/moving-ends.ts'
import type { TargetEnd } from '../../store/moving/ends.ts'
import type { MovingReader } from '../../store/moving-face.ts'
import type { Begun } from './beginning.ts'
import { type Compared, compareStores } from './compare.ts'
import { type CopiedFiles, copyFiles } from './copy-files.ts'
import { copyRows } from './copy-rows.ts'
import { newBucketFolder, openPlace } from './file-places.ts'
import type { Plan } from './plan.ts'
import type { MovePorts, MoveWish } from './wish.ts'

/** `damaged`: places of rows that were left out. */
export type Copied = { compared: Compared; files: CopiedFiles | null; damaged: string[] }

export type CopyingAll = { plan: Plan; begun: Begun; wish: MoveWish; ports: MovePorts; target: TargetEnd }

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
  { plan, begun, ports, target }: CopyingAll,
  from: FilesEnd | null,
): Promise<CopiedFiles | null> {
  const folder = await settleBucketFolder(plan, target)
  if (plan.files.stay || from === null) return null
  const { counts } = plan
  const to = await openPlace(plan.files.to, { folder, counts, held: null, onWarning: ports.say })
  if (to === null) return null
  return copyFiles({
    reader: target.reader,
    source: from.sealed,
    target: to.sealed,
    isResumed: !begun.anew,
    expected: counts.bytes,
    ports,
  }).finally(to.close)
}

/** Files that stay in their bucket stay in its folder; others get a new one. Returns the folder of the target. */
async function settleBucketFolder({ files: { to, stay }, folder }: Plan, { reader, writer }: TargetEnd) {
  if (to.kind !== 'bucket') return null
  const known = await reader.readBucketFolder()
  if (known !== null) return known
  const settled = stay && folder !== null ? folder : newBucketFolder(true)
  await writer.writeBucketFolder(settled)
  return settled
}
