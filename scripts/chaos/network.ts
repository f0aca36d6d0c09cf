// The network between nodes and database fails for seconds, and recovers.

import type { Way } from '../../test/support/fault-proxy.ts'
import { breakAgainAndAgain } from './breakage.ts'
import { moment, type Scenario } from './scenario.ts'

const WAYS: readonly Way[] = ['stall', 'reset', 'swallow']
/** The length of the long cuts, one in four: longer than any answer may take. */
const LONG_CUT_MS = 12_000

export const network: Scenario = {
  name: 'network',
  what: 'the network between nodes and database stalls, resets or swallows answers, and heals',
  rounds: 24,
  run: (trial) => {
    const { office, draw } = trial
    const breakOnce = async (round: number) => {
      const way = WAYS[round % WAYS.length] ?? 'stall'
      // Cuts off one node, or all of them.
      const cut = round % 2 === 0 ? [office.nodes[draw(office.nodes.length)]] : office.nodes
      for (const node of cut) node?.proxy.set(way)
      await Bun.sleep(round % 4 === 3 ? LONG_CUT_MS : moment(draw, 1000))
      for (const node of cut) node?.proxy.set('pass')
    }
    return breakAgainAndAgain(trial, { name: 'cuts', after: 300, breakOnce })
  },
}
