// The database server is lost for good under load, and its synchronous standby takes its place.

import { createLoad } from './load.ts'
import { moment, recover, type Scenario } from './scenario.ts'

export const failover: Scenario = {
  name: 'failover',
  what: 'the database server lost under load, and its synchronous standby promoted',
  rounds: 3,
  run: async (trial) => {
    const { office, rounds, draw, onStep } = trial
    const load = createLoad(office, draw)
    let primary = office.cluster
    let longest = 0
    for (let round = 0; round < rounds; round += 1) {
      onStep(`${round} of ${rounds} failovers: copying the server`)
      const standby = await primary.addStandby()
      onStep(`${round} of ${rounds} failovers, ${load.client.countRequests()} requests`)
      const stop = load.start()
      await Bun.sleep(moment(draw, 1500))
      await primary.stop('immediate')
      // What an address that moves to the other server does.
      for (const { proxy } of office.nodes) proxy.lead(standby.port)
      await standby.promote()
      longest = Math.max(longest, await recover(trial, load))
      await Bun.sleep(moment(draw, 300))
      await stop()
      if (primary !== office.cluster) await primary.remove()
      primary = standby
    }
    const checked = await load.check(Number.POSITIVE_INFINITY)
    if (primary !== office.cluster) await primary.remove()
    const tried = `${rounds} failovers, ${load.client.countRequests()} requests, ${checked} pushes checked`
    return { tried: `${tried}, works again after ${Math.round(longest)} ms`, faults: load.faults }
  },
}
