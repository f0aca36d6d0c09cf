// The database server crashes under load, and starts again.

import { createLoad } from './load.ts'
import { moment, recover, type Scenario } from './scenario.ts'

const CHECKED = 60

export const database: Scenario = {
  name: 'database',
  what: 'the database server stopped with "immediate" under load, and started again',
  rounds: 20,
  run: async (trial) => {
    const { office, rounds, draw, onStep } = trial
    const load = createLoad(office, draw)
    let longest = 0
    let checked = 0
    for (let round = 0; round < rounds; round += 1) {
      onStep(`${round} of ${rounds} crashes, ${load.client.countRequests()} requests`)
      const stop = load.start()
      await Bun.sleep(moment(draw, 500))
      await office.cluster.stop('immediate')
      await Bun.sleep(draw(1500))
      await office.cluster.start()
      longest = Math.max(longest, await recover(trial, load))
      await stop()
      checked += await load.check(CHECKED)
    }
    checked += await load.check(Number.POSITIVE_INFINITY)
    const tried = `${rounds} crashes, ${load.client.countRequests()} requests, ${checked} pushes checked`
    const times = `works again after ${Math.round(longest)} ms, longest answer ${Math.round(load.client.longest())} ms`
    return { tried: `${tried}, ${times}`, faults: load.faults }
  },
}
