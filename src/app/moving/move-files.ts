// Moves the files of a store alone, between a disk and a bucket. The rows stay where they are, and are told where the files are
// in one step: there is nothing else to confirm, and a move that is broken off has changed nothing.

import { DomainError } from '../../domain/errors.ts'
import { createRelieve } from '../../services/pushes/relief.ts'
import type { FilesEnd } from '../../store/files/moving-ends.ts'
import type { SourceEnd } from '../../store/moving/ends.ts'
import type { MovingBucketFolder } from '../../store/moving-face.ts'
import { type CopiedFiles, copyFiles } from './copy-files.ts'
import { openSource } from './ends.ts'
import { nameFiles, newBucketFolder, openPlace } from './file-places.ts'
import { bringKey, requireKeys } from './keys.ts'
import { findNeeds, type Plan, planMove, surveyDamage } from './plan.ts'
import type { MovePorts, MoveReport, MoveWish } from './wish.ts'

export async function moveFiles(wish: MoveWish, ports: MovePorts): Promise<MoveReport> {
  const source = await openSource(wish.from, ports.say)
  try {
    const plan = await planMove(wish, source)
    const { counts, keys, files } = plan
    const report: MoveReport = {
      ...{ state: 'planned', from: nameFiles(files.from), to: nameFiles(files.to), counts, keyFile: keys.to },
      ...{ compared: null, files: null, damaged: [], needs: [], isDestroyed: false },
    }
    if (files.stay)
      throw new DomainError(
        'conflict',
        `The files are in ${nameFiles(files.from)} already. Name another place for them.`,
      )
    const needs = findNeeds(wish, plan)
    if (wish.mode === 'dry-run') return { ...report, damaged: await surveyDamage(plan, ports), needs }
    if (needs.length > 0) throw new DomainError('conflict', needs.join(' '))
    await requireKeys(keys, source.reader)
    bringKey(keys)
    return await run({ source, plan, wish, ports, report })
  } finally {
    await source.close()
  }
}

type Running = { source: SourceEnd; plan: Plan; wish: MoveWish; ports: MovePorts; report: MoveReport }

async function run({ source, plan, wish, ports, report }: Running): Promise<MoveReport> {
  const { counts } = plan
  const from = await openPlace(plan.files.from, {
    folder: plan.folder,
    counts,
    isSource: true,
    onWarning: ports.say,
  })
  const folder = await chooseFolder(source, plan)
  const to = await openPlace(plan.files.to, { folder, counts, isSource: false, onWarning: ports.say })
  try {
    const files = from === null || to === null ? null : await copyAll({ from, to, source, plan, ports })
    const copied: MoveReport = { ...report, state: 'copied', files }
    ports.onStep?.('after all files')
    if (!(await ports.confirm(copied))) return copied
    await source.settleFiles({
      ...(folder ?? newBucketFolder(false)),
      isUsed: plan.files.to.kind === 'bucket',
    })
    ports.onStep?.('after the files were settled')
    if (wish.destroySource) await from?.removeAll()
    return { ...copied, state: 'moved', isDestroyed: wish.destroySource }
  } finally {
    await from?.close()
    await to?.close()
  }
}

/** The folder in the bucket, which a move that is broken off uses again. */
async function chooseFolder(source: SourceEnd, { folder, files }: Plan): Promise<MovingBucketFolder | null> {
  if (files.to.kind !== 'bucket' || (folder !== null && !folder.isUsed)) return folder
  const chosen = newBucketFolder(false)
  if (folder === null) await source.settleFiles(chosen)
  return chosen
}

type CopyingAll = Pick<Running, 'source' | 'plan' | 'ports'> & { from: FilesEnd; to: FilesEnd }

function copyAll({ from, to, source, plan, ports }: CopyingAll): Promise<CopiedFiles> {
  return copyFiles({
    reader: source.reader,
    source: from.sealed,
    target: to.sealed,
    isResumed: true,
    onProgress: (bytes) => ports.onProgress('files', bytes, Math.max(bytes, plan.counts.bytes)),
    onStep: ports.onStep ?? (() => undefined),
    relieve: createRelieve(() => Bun.gc(true)),
  })
}
