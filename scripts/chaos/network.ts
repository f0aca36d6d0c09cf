// The network between nodes and database fails for seconds, and heals.

import type { Way } from '../../test/support/fault-proxy.ts'
import { createLoad } from './load.ts'
import { moment, recover, type Scenario } from './scenario.ts'

const WAYS: readonly Way[] = ['stall', 'reset', 'swallow']
const CHECKED = 60
/** Every fourth cut lasts longer than any answer may take. */
const LONG_CUT_MS = 12_000

export const network: Scenario = {
  name: 'network',
  what: 'the network between nodes and database stalls, resets or swallows answers, and heals',
  rounds: 24,
  run: async (trial) => {
    const { office, rounds, draw, onStep } = trial
    const load = createLoad(office, draw)
    let longest = 0
    let checked = 0
    for (let round = 0; round < rounds; round += 1) {
      const way = WAYS[round % WAYS.length] ?? 'stall'
      // One node alone, or all of them.
      const cut = round % 2 === 0 ? [office.nodes[draw(office.nodes.length)]] : office.nodes
      onStep(`${round} of ${rounds} cuts (${way}), ${load.client.countRequests()} requests`)
      const stop = load.start()
      await Bun.sleep(moment(draw, 300))
      for (const node of cut) node?.proxy.set(way)
      await Bun.sleep(round % 4 === 3 ? LONG_CUT_MS : moment(draw, 1000))
      for (const node of cut) node?.proxy.set('pass')
      longest = Math.max(longest, await recover(trial, load))
      await stop()
      checked += await load.check(CHECKED)
    }
    checked += await load.check(Number.POSITIVE_INFINITY)
    const tried = `${rounds} cuts, ${load.client.countRequests()} requests, ${checked} pushes checked`
    const times = `works again after ${Math.round(longest)} ms, longest answer ${Math.round(load.client.longest())} ms`
    return { tried: `${tried}, ${times}`, faults: load.faults }
  },
}
