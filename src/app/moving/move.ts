// `oncebox move`: copies everything of one store to another, compares both, and leaves the source only when that is confirmed.

import { DomainError } from '../../domain/errors.ts'
import { printableLine } from '../../domain/printable.ts'
import { becomeOwner } from '../../store/folder/ownership.ts'
import type { SourceEnd } from '../../store/moving/ends.ts'
import type { MovedAway } from '../../store/moving-face.ts'
import { type Begun, begin } from './beginning.ts'
import { copyAndCompare } from './copy.ts'
import { destroySource } from './destroy.ts'
import { type AskedMove, placeOf } from './ends.ts'
import { explainMove } from './failures.ts'
import { bringKey, findKeyPlaces, requireKeys } from './keys.ts'
import { moveFiles } from './move-files.ts'
import { requireTargetFolder } from './node-folders.ts'
import { findNeeds, NOTHING, type Plan, planMove, reportOf, surveyDamage } from './plan.ts'
import type { GivenPorts, MoveReport, MoveWish } from './wish.ts'

/** Throws `conflict` when nothing can be moved, or when something differs: then the source still works. */
export async function moveStore(wish: MoveWish, given: GivenPorts): Promise<MoveReport> {
  const ports = { onStep: () => undefined, ...given, say: onceEach(given.say) }
  const [folder] = [wish.from, wish.to].flatMap((place) => (place.kind === 'folder' ? [place.path] : []))
  if (folder !== undefined) becomeOwner(folder)
  const onWarning = ports.say
  const keys = findKeyPlaces(wish)
  const source = { dataDir: wish.fromDataDir, bucket: wish.fromBucket, keyFile: keys.from }
  const target = { dataDir: wish.toDataDir, bucket: wish.toBucket, keyFile: keys.to }
  const from = placeOf(wish.from, { remembering: source, onWarning })
  const to = placeOf(wish.to, { remembering: target, onWarning })
  try {
    const move = { wish, ports, from, to }
    await requireTargetFolder(move)
    return await (from.name === to.name ? moveFiles : moveAll)(move)
  } catch (cause) {
    throw explainMove(cause, wish)
  }
}

/** A server is looked at several times. */
function onceEach(say: (line: string) => void): (line: string) => void {
  const told = new Set<string>()
  return (line) => {
    if (!told.has(line)) say(line)
    told.add(line)
  }
}

async function moveAll(move: AskedMove): Promise<MoveReport> {
  const { wish, from, to } = move
  const away = await from.findMovedAway()
  if (away !== null) return goOn(move, away)
  const found = await to.lookAtTarget()
  const source = await from.openSource()
  try {
    const plan = await planMove(wish, source)
    if (wish.mode === 'dry-run') return await describePlan(move, plan)
    const needs = findNeeds(wish, plan)
    if (needs.length > 0) throw new DomainError('conflict', needs.join(' '))
    await requireKeys(plan.keys, source.reader)
    return await run(move, {
      source,
      plan,
      begun: begin({ found, source, target: to.name, mode: wish.mode }),
    })
  } finally {
    await source.close()
  }
}

async function describePlan(move: AskedMove, plan: Plan): Promise<MoveReport> {
  const needs = findNeeds(move.wish, plan)
  if (plan.keys.from !== null) await requireKeys(plan.keys, plan.reader)
  return { ...reportOn(move, plan), damaged: await surveyDamage(plan, move.ports), needs }
}

function reportOn({ from, to }: AskedMove, { counts, keys }: Pick<Plan, 'counts' | 'keys'>): MoveReport {
  return reportOf({ from: from.name, to: to.name, counts, keyFile: keys.to })
}

type Running = { source: SourceEnd; plan: Plan; begun: Begun }

async function run(move: AskedMove, { source, plan, begun }: Running): Promise<MoveReport> {
  const { ports, to } = move
  const { state } = begun
  const target = await to.openTarget(begun)
  try {
    ports.onStep('after the target was opened')
    bringKey(plan.keys)
    ports.onStep('after the key was brought')
    const copied = await copyAndCompare({ ...move, plan, begun, target })
    await target.writeState({ ...state, state: 'copied' })
    ports.onStep('after everything was copied')
    const report: MoveReport = { ...reportOn(move, plan), ...copied, state: 'copied' }
    if (!(await ports.confirm(report))) return report
    await source.leave({ id: state.id, to: target.name, at: ports.now() })
    ports.onStep('after the source was left')
    await target.confirm()
    ports.onStep('after the move was confirmed')
    return await finish(move, { ...report, state: 'moved' }, source.close)
  } finally {
    await target.close()
  }
}

/** Everything was moved away already: what is left is to say so at the target, and to destroy the source. */
async function goOn(move: AskedMove, away: MovedAway): Promise<MoveReport> {
  const { wish, to } = move
  const state = await to.findState()
  const isUnconfirmed = state?.id === away.id
  const isConfirmed = state === null && away.to === to.name
  if (!isUnconfirmed && !(isConfirmed && wish.destroySource)) throw gone(move, away)
  if (state === null && !(await to.isFilled())) throw lost(move)
  const keys = findKeyPlaces(wish)
  const report: MoveReport = { ...reportOn(move, { counts: NOTHING, keys }), state: 'moved' }
  if (wish.mode === 'dry-run') return report
  if (state !== null) {
    const target = await to.openTarget({ state, anew: false })
    await target.confirm().finally(target.close)
  }
  return finish(move, report, async () => undefined)
}

/** Destroys the source, if that was asked for and is confirmed. */
async function finish(
  move: AskedMove,
  report: MoveReport,
  closeSource: () => Promise<void>,
): Promise<MoveReport> {
  const { wish, ports } = move
  if (!wish.destroySource || !(await ports.confirmDestruction(report))) return report
  await closeSource()
  await destroySource(move)
  return { ...report, isDestroyed: true }
}

/** The source may be the last place that has the data. */
function lost({ from, to }: AskedMove): DomainError {
  return new DomainError(
    'conflict',
    `${to.name}, where everything was moved to, holds no data now: nothing in ${from.name} was destroyed.`,
  )
}

function gone({ from }: AskedMove, { to }: MovedAway): DomainError {
  return new DomainError('conflict', `Everything in ${from.name} was moved to ${printableLine(to)} already.`)
}
