// Copies rows and files of a source into its target, and compares both.

import { createRelieve } from '../../services/pushes/relief.ts'
import type { FilesEnd } from '../../store/files/moving-ends.ts'
import type { TargetEnd } from '../../store/moving/ends.ts'
import type { MoveState, MovingCounts, MovingReader } from '../../store/moving-face.ts'
import { type Compared, compareStores } from './compare.ts'
import { type CopiedFiles, copyFiles } from './copy-files.ts'
import { copyRows } from './copy-rows.ts'
import { type FilePlan, newBucketFolder, openPlace } from './file-places.ts'
import type { Plan } from './plan.ts'
import type { MovePorts, MoveWish } from './wish.ts'

/** `anew`: not the continuation of an earlier try. */
export type Begun = { state: MoveState; anew: boolean }

export type CopyResult = { compared: Compared; files: CopiedFiles | null; damaged: string[] }

export type CopyingAll = { plan: Plan; begun: Begun; wish: MoveWish; ports: MovePorts; target: TargetEnd }

/** Goes on where an earlier try stopped. Throws `conflict` when the copy differs from the source. */
export async function copyAndCompare(all: CopyingAll): Promise<CopyResult> {
  const { plan, begun, wish, ports, target } = all
  const { counts } = plan
  const step = ports.onStep ?? (() => undefined)
  const from = await openPlace(plan.files.from, {
    folder: plan.folder,
    counts,
    isSource: true,
    onWarning: ports.say,
  })
  try {
    const reader = plan.readerWith(from)
    const damaged: string[] = []
    if (begun.state.state === 'copying')
      await copyRows({
        reader,
        writer: target.writer,
        skipDamaged: wish.skipDamaged,
        onDamaged: (places) => damaged.push(...places),
        onProgress: (done) => ports.onProgress('copying', done, counts.pushes),
        onStep: step,
      })
    const files = await bringFiles({ ...all, from })
    const compared = await compare({ source: reader, target: target.reader }, { counts, ports }).catch(
      async (cause) => {
        // The next try copies everything anew.
        await target.writeState({ ...begun.state, state: 'copying', sourceMark: '' })
        throw cause
      },
    )
    return { compared, files, damaged }
  } finally {
    await from?.close()
  }
}

type Comparing = { counts: MovingCounts; ports: MovePorts }

function compare(
  stores: { source: MovingReader; target: MovingReader },
  { counts, ports }: Comparing,
): Promise<Compared> {
  return compareStores(stores, (done) => ports.onProgress('comparing', done, counts.pushes))
}

type Bringing = CopyingAll & { from: FilesEnd | null }

/** Null when they stay where they are. */
async function bringFiles(bringing: Bringing): Promise<CopiedFiles | null> {
  const { plan, begun, ports, target, from } = bringing
  const folder = await settleBucketFolder(plan.files, plan, target)
  if (plan.files.stay || from === null) return null
  const { counts } = plan
  const to = await openPlace(plan.files.to, { folder, counts, isSource: false, onWarning: ports.say })
  if (to === null) return null
  try {
    return await copyFiles({
      reader: target.reader,
      source: from.sealed,
      target: to.sealed,
      isResumed: !begun.anew,
      onProgress: (bytes) => ports.onProgress('files', bytes, Math.max(bytes, counts.bytes)),
      onStep: ports.onStep ?? (() => undefined),
      relieve: createRelieve(() => Bun.gc(true)),
    })
  } finally {
    await to.close()
  }
}

/** Files that stay in their bucket stay in its folder; others get a new one. Returns the folder of the target. */
async function settleBucketFolder({ to, stay }: FilePlan, { folder }: Plan, { reader, writer }: TargetEnd) {
  if (to.kind !== 'bucket') return null
  const known = await reader.readBucketFolder()
  if (known !== null) return known
  const settled = stay && folder !== null ? folder : newBucketFolder(true)
  await writer.writeBucketFolder(settled)
  return settled
}
