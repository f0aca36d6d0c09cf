// Moves the files of a store alone, between a disk and a bucket. The rows stay where they are, and are told where the files are
// in one step: there is nothing else to confirm, and a move that is broken off has changed nothing.

import { DomainError } from '../../domain/errors.ts'
import type { FilesEnd } from '../../store/files/moving-ends.ts'
import type { SourceEnd } from '../../store/moving/ends.ts'
import type { MovingBucketFolder, MovingReader } from '../../store/moving-face.ts'
import { type CopiedFiles, copyFiles } from './copy-files.ts'
import type { AskedMove } from './ends.ts'
import { nameFiles, newBucketFolder, openPlace } from './file-places.ts'
import { findMissing } from './kept.ts'
import { areKept } from './kept-files.ts'
import { bringKey, requireKeys } from './keys.ts'
import { belongsToSource, notOfSource, openTargetPlace } from './node-folders.ts'
import { findNeeds, type Plan, planMove, reportOf, surveyDamage } from './plan.ts'
import type { MoveReport } from './wish.ts'

export async function moveFiles(move: AskedMove): Promise<MoveReport> {
  const { wish, ports, from } = move
  const source = await from.openSource(null)
  try {
    const plan = await planMove(wish, source)
    const { counts, keys, files } = plan
    const places = { from: nameFiles(files.from), to: nameFiles(files.to) }
    const report = reportOf({ ...places, counts, keyFile: keys.to })
    if (files.stay)
      throw new DomainError(
        'conflict',
        `The files are in ${places.from} already. Name another place for them.`,
      )
    const needs = findNeeds(wish, plan)
    if (wish.mode === 'dry-run') return { ...report, damaged: await surveyDamage(plan, ports), needs }
    if (needs.length > 0) throw new DomainError('conflict', needs.join(' '))
    await requireKeys(keys, source.reader)
    bringKey(keys)
    return await run({ ...move, source, plan, report })
  } finally {
    await source.close()
  }
}

type Running = AskedMove & { source: SourceEnd; plan: Plan; report: MoveReport }

function run(running: Running): Promise<MoveReport> {
  const { from: store, source, plan, wish, ports, report } = running
  return withEnds(running, async ({ from, to, folder }) => {
    const files = from === null || to === null ? null : await copyAll({ from, to, source, plan, ports })
    const done: MoveReport = { ...report, state: 'copied', files }
    ports.onStep('after all files')
    if (!(await ports.confirm(done))) return done
    const isUsed = plan.files.to.kind === 'bucket'
    const settled = { ...(folder ?? newBucketFolder(false)), isUsed }
    await source.settleFiles(settled)
    ports.onStep('after the files were settled')
    const moved: MoveReport = { ...done, state: 'moved' }
    if (!wish.destroySource || !(await ports.confirmDestruction(moved))) return moved
    const left = { place: plan.files.from, folder: plan.folder }
    if (areKept(left, { place: plan.files.to, folder: settled })) {
      ports.say(`Nothing was destroyed: ${report.from} and ${report.to} are the same place.`)
      return moved
    }
    if (!(await belongsToSource(left.place, running))) {
      ports.say(notOfSource(report.from))
      return moved
    }
    await store.reading((reader) => requireSettled(reader, { settled, files: to, report }))
    await from?.removeAll()
    return { ...moved, isDestroyed: true }
  })
}

type Settled = { settled: MovingBucketFolder; files: FilesEnd | null; report: MoveReport }

/** The rows may have been set back while the question was open: then they name the files that would be destroyed. */
async function requireSettled(reader: MovingReader, { settled, files, report }: Settled): Promise<void> {
  const { from, to } = report
  const found = await reader.readBucketFolder()
  const isSettled = found?.isUsed === settled.isUsed && found.tag === settled.tag
  const missing = files === null ? null : await findMissing(reader, files.sealed)
  if (isSettled && missing === null) return
  throw new DomainError(
    'conflict',
    `${isSettled ? `${to} lacks ${missing}` : `The database was set back, and its files are in ${from} again`}. Nothing in ${from} was ` +
      'destroyed: run the same command again.',
  )
}

type Ends = { from: FilesEnd | null; to: FilesEnd | null; folder: MovingBucketFolder | null }

/** Closes both ends after the work, also when the second one cannot be opened. */
async function withEnds<T>(
  { source, plan, ports, wish, to: target }: Running,
  work: (ends: Ends) => Promise<T>,
): Promise<T> {
  const { counts, files } = plan
  const opening = { counts, onWarning: ports.say }
  const from = await openPlace(files.from, { ...opening, folder: plan.folder, held: plan.reader })
  try {
    const folder = await chooseFolder(source, plan)
    const to = await openTargetPlace(files.to, { ...opening, folder, held: null, wish, to: target })
    try {
      return await work({ from, to, folder })
    } finally {
      await to?.close()
    }
  } finally {
    await from?.close()
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
    expected: plan.counts.bytes,
    ports,
  })
}
