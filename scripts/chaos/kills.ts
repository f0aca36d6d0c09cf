// A node is killed under load, again and again.

import { createLoad } from './load.ts'
import { moment, recover, type Scenario } from './scenario.ts'

const CHECKED = 60

export const kills: Scenario = {
  name: 'kills',
  what: 'a node killed with kill -9 under load',
  rounds: 50,
  run: async (trial) => {
    const { office, rounds, draw, onStep } = trial
    const load = createLoad(office, draw)
    let longest = 0
    let checked = 0
    for (let round = 0; round < rounds; round += 1) {
      onStep(`${round} of ${rounds} kills, ${load.client.countRequests()} requests`)
      const stop = load.start()
      await Bun.sleep(moment(draw, 300))
      const node = office.nodes[draw(office.nodes.length)]
      await node?.end('SIGKILL')
      await Bun.sleep(moment(draw, 100))
      await node?.start()
      longest = Math.max(longest, await recover(trial, load))
      await stop()
      checked += await load.check(CHECKED)
    }
    checked += await load.check(Number.POSITIVE_INFINITY)
    const tried = `${rounds} kills, ${load.client.countRequests()} requests, ${checked} pushes checked`
    return { tried: `${tried}, works again after ${Math.round(longest)} ms`, faults: load.faults }
  },
}
