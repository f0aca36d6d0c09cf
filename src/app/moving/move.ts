// `oncebox move`: copies everything of one store to another, compares both, and leaves the source only when that is confirmed.

import { randomBase32 } from '../../crypto/random.ts'
import { DomainError } from '../../domain/errors.ts'
import { becomeOwner } from '../../store/folder/ownership.ts'
import { type SourceEnd, sourceInUse } from '../../store/moving/ends.ts'
import type { MovedAway, MoveState } from '../../store/moving-face.ts'
import { type Begun, copyAndCompare } from './copy.ts'
import { destroySource } from './destroy.ts'
import { findMovedAway, findState, isFilled, lookAtTarget, nameOf, openSource, openTarget } from './ends.ts'
import { explainMove } from './failures.ts'
import { bringKey, findKeyPlaces, requireKeys } from './keys.ts'
import { moveFiles } from './move-files.ts'
import { findNeeds, NOTHING, type Plan, planMove, surveyDamage } from './plan.ts'
import type { MovePorts, MoveReport, MoveWish } from './wish.ts'

const ID_CHARACTERS = 26

/** Throws `conflict` when nothing can be moved, or when something differs: then the source still works. */
export async function moveStore(wish: MoveWish, given: MovePorts): Promise<MoveReport> {
  const ports = { ...given, say: onceEach(given.say) }
  const [folder] = [wish.from, wish.to].flatMap((place) => (place.kind === 'folder' ? [place.path] : []))
  if (folder !== undefined) becomeOwner(folder)
  try {
    return nameOf(wish.from) === nameOf(wish.to) ? await moveFiles(wish, ports) : await moveAll(wish, ports)
  } catch (cause) {
    throw explainMove(cause, wish)
  }
}

async function moveAll(wish: MoveWish, ports: MovePorts): Promise<MoveReport> {
  const away = await findMovedAway(wish.from, ports.say)
  if (away !== null) return goOn(away, wish, ports)
  const look = await lookAtTarget(wish.to, ports.say)
  const source = await openSource(wish.from, ports.say)
  try {
    const plan = await planMove(wish, source)
    if (wish.mode === 'dry-run') return await describePlan(plan, wish, ports)
    const needs = findNeeds(wish, plan)
    if (needs.length > 0) throw new DomainError('conflict', needs.join(' '))
    await requireKeys(plan.keys, source.reader)
    const begun = begin(look.state, { source, target: look.name, wish })
    return await run({ source, plan, begun, wish, ports })
  } finally {
    await source.close()
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

async function describePlan(plan: Plan, wish: MoveWish, ports: MovePorts): Promise<MoveReport> {
  const needs = findNeeds(wish, plan)
  if (plan.keys.from !== null) await requireKeys(plan.keys, plan.reader)
  const damaged = await surveyDamage(plan, ports)
  return { ...reportOf(plan, wish), state: 'planned', damaged, needs }
}

export function reportOf(
  { counts, keys }: Pick<Plan, 'counts' | 'keys'>,
  { from, to }: MoveWish,
): MoveReport {
  return {
    state: 'copied',
    ...{ from: nameOf(from), to: nameOf(to), counts, keyFile: keys.to },
    ...{ compared: null, files: null, damaged: [], needs: [], isDestroyed: false },
  }
}

type Beginning = { source: SourceEnd; target: string; wish: MoveWish }

/** Goes on with an earlier try, unless the source was used since: then everything is copied anew. */
function begin(found: MoveState | null, { source, target, wish }: Beginning): Begun {
  if (found !== null && found.source !== source.name)
    throw new DomainError(
      'conflict',
      `${target} is the end of another move, from ${found.source}. Go on with that one, or name another place with --to.`,
    )
  const isSame = found !== null && found.sourceMark === source.mark
  if (wish.mode === 'confirm') {
    if (found === null || (isSame && found.state === 'copying'))
      throw new DomainError(
        'conflict',
        `There is no finished copy in ${target} to confirm: run the move without --confirm.`,
      )
    if (!isSame) throw new DomainError('conflict', sourceInUse(source.name))
  }
  if (isSame) return { state: found, anew: false }
  const id = randomBase32(ID_CHARACTERS)
  return { state: { id, state: 'copying', source: source.name, sourceMark: source.mark }, anew: true }
}

type Running = { source: SourceEnd; plan: Plan; begun: Begun; wish: MoveWish; ports: MovePorts }

async function run({ source, plan, begun, wish, ports }: Running): Promise<MoveReport> {
  const { state } = begun
  const step = ports.onStep ?? (() => undefined)
  const target = await openTarget(wish.to, ports.say, begun)
  try {
    step('after the target was opened')
    bringKey(plan.keys)
    step('after the key was brought')
    const { compared, files, damaged } = await copyAndCompare({ plan, begun, wish, ports, target })
    await target.writeState({ ...state, state: 'copied' })
    step('after everything was copied')
    const report: MoveReport = { ...reportOf(plan, wish), compared, files, damaged }
    if (!(await ports.confirm(report))) return report
    await source.leave({ id: state.id, to: target.name, at: ports.now() })
    step('after the source was left')
    await target.confirm()
    step('after the move was confirmed')
    return await finish({ ...report, state: 'moved' }, wish, ports, source)
  } finally {
    await target.close()
  }
}

async function finish(
  report: MoveReport,
  wish: MoveWish,
  ports: MovePorts,
  source: SourceEnd | null,
): Promise<MoveReport> {
  if (!wish.destroySource || !(await ports.confirmDestruction(report))) return report
  await source?.close()
  await destroySource(wish, ports)
  return { ...report, isDestroyed: true }
}

/** Everything was moved away already: what is left is to say so at the target, and to destroy the source. */
async function goOn(away: MovedAway, wish: MoveWish, ports: MovePorts): Promise<MoveReport> {
  const state = await findState(wish.to, ports.say)
  const isOpen = state === null && away.to === nameOf(wish.to)
  if (state?.id !== away.id && !(isOpen && wish.destroySource)) throw gone(away, wish)
  if (state === null && !(await isFilled(wish.to, ports.say))) throw lost(wish)
  const keys = findKeyPlaces(wish)
  const report: MoveReport = { ...reportOf({ counts: NOTHING, keys }, wish), state: 'moved' }
  if (wish.mode === 'dry-run') return report
  if (state !== null) {
    const target = await openTarget(wish.to, ports.say, { state, anew: false })
    await target.confirm().finally(target.close)
  }
  return finish(report, wish, ports, null)
}

/** The source may be the last place that has the data. */
function lost({ from, to }: MoveWish): DomainError {
  return new DomainError(
    'conflict',
    `${nameOf(to)}, where everything was moved to, holds no data now: nothing in ${nameOf(from)} was destroyed.`,
  )
}

function gone({ to }: MovedAway, { from }: MoveWish): DomainError {
  return new DomainError('conflict', `Everything in ${nameOf(from)} was moved to ${to} already.`)
}
