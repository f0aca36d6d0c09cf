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
import { lost, requireKept } from './kept.ts'
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
  if (away !== null && (await to.findArrived()) === away.id) return goOn(move, away)
  if (away?.isSettled) throw away.to === to.name ? lost(move) : gone(move, away)
  const found = await to.lookAtTarget()
  if (away !== null && found?.id !== away.id && away.to !== to.name) throw gone(move, away)
  const source = await from.openSource(away)
  try {
    const plan = await planMove(wish, source)
    if (wish.mode === 'dry-run') return await describePlan(move, plan)
    const needs = findNeeds(wish, plan)
    if (needs.length > 0) throw new DomainError('conflict', needs.join(' '))
    await requireKeys(plan.keys, source.reader)
    const begun = begin({ found, source, away, target: to.name, mode: wish.mode })
    return await run(move, { source, plan, begun, isLeft: away !== null })
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

/** `isLeft`: an earlier try left the source already, and its target was not confirmed or was set back since. */
type Running = { source: SourceEnd; plan: Plan; begun: Begun; isLeft: boolean }

/** The target is confirmed only over the connection that has compared all of it. */
async function run(move: AskedMove, { source, plan, begun, isLeft }: Running): Promise<MoveReport> {
  const { ports, from, to } = move
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
    if (!isLeft) {
      if (!(await ports.confirm(report))) return report
      await source.leave({ id: state.id, to: target.name, at: ports.now(), isSettled: false })
      ports.onStep('after the source was left')
    }
    await target.confirm()
    ports.onStep('after the move was confirmed')
    await from.settle(state.id)
    ports.onStep('after the source was settled')
    return await finish(move, { ...report, state: 'moved' }, { id: state.id, closeSource: source.close })
  } finally {
    await target.close()
  }
}

/** Everything is in the target: what is left is to say so at the source, and to destroy that. */
async function goOn(move: AskedMove, away: MovedAway): Promise<MoveReport> {
  const { wish, ports, from } = move
  if (away.isSettled && !wish.destroySource) throw gone(move, away)
  const keys = findKeyPlaces(wish)
  const report: MoveReport = { ...reportOn(move, { counts: NOTHING, keys }), state: 'moved' }
  if (wish.mode === 'dry-run') return report
  await from.settle(away.id)
  ports.onStep('after the source was settled')
  return finish(move, report, { id: away.id, closeSource: async () => undefined })
}

/** Destroys the source, if that was asked for and is confirmed. */
async function finish(
  move: AskedMove,
  report: MoveReport,
  { id, closeSource }: { id: string; closeSource: () => Promise<void> },
): Promise<MoveReport> {
  const { wish, ports } = move
  if (!wish.destroySource || !(await ports.confirmDestruction(report))) return report
  // Either end may have been set back while the question was open.
  await requireKept(move, id)
  await closeSource()
  await destroySource(move, id)
  return { ...report, isDestroyed: true }
}

function gone({ from }: AskedMove, { to }: MovedAway): DomainError {
  return new DomainError('conflict', `Everything in ${from.name} was moved to ${printableLine(to)} already.`)
}
