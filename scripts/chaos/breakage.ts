// Breaks a dependency again and again under load, and checks after each repair that everything works and
// nothing was lost.

import { createLoad } from './load.ts'
import { moment, type Outcome, recover, type Trial } from './scenario.ts'

/** How many pushes are checked after each round. At the end, all are checked. */
const CHECKED = 60

export type Breakage = {
  /** The noun for the report, such as "kills". */
  name: string
  /** The minimum time under load before each breakage, in milliseconds. */
  after: number
  /** Breaks something, and repairs it. */
  breakOnce: (round: number) => Promise<void>
}

export async function breakAgainAndAgain(
  trial: Trial,
  { name, after, breakOnce }: Breakage,
): Promise<Outcome> {
  const { rounds, draw, onStep } = trial
  const load = createLoad(trial)
  let longest = 0
  let checked = 0
  for (let round = 0; round < rounds; round += 1) {
    onStep(`${round} of ${rounds} ${name}, ${load.client.countRequests()} requests`)
    const stop = load.start()
    await Bun.sleep(moment(draw, after))
    await breakOnce(round)
    longest = Math.max(longest, await recover(trial, load))
    await stop()
    checked += await load.check(CHECKED)
  }
  checked += await load.check(Number.POSITIVE_INFINITY)
  const tried = `${rounds} ${name}, ${load.client.countRequests()} requests, ${checked} pushes checked`
  const times = `works again after ${Math.round(longest)} ms, longest answer ${Math.round(load.client.longest())} ms`
  return { tried: `${tried}, ${times}`, faults: load.faults }
}
