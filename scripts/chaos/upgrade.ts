// Replaces the nodes one by one by another version under load, and then back.

import { BINARY } from '../../test/support/binary.ts'
import { createLoad } from './load.ts'
import { checkPages } from './pages.ts'
import { moment, recover, type Scenario } from './scenario.ts'

export const upgrade: Scenario = {
  name: 'upgrade',
  what: 'each node replaced by the next version under load, and by this one again',
  rounds: 2,
  run: async (trial) => {
    const { office, rounds, draw, otherBinary, onStep } = trial
    const load = createLoad(trial)
    const stop = load.start()
    for (let round = 0; round < rounds; round += 1) {
      for (const binary of [otherBinary, BINARY]) {
        for (const node of office.nodes) {
          onStep(`round ${round + 1} of ${rounds}: ${node.name} becomes ${binary}`)
          await node.end('SIGTERM')
          await node.start(binary)
          await recover(trial, load)
          load.faults.push(...(await checkPages(office.nodes)))
          await Bun.sleep(moment(draw, 500))
        }
      }
    }
    await stop()
    const checked = await load.check(Number.POSITIVE_INFINITY)
    const tried = `${rounds * 2 * office.nodes.length} replaced nodes, ${load.client.countRequests()} requests`
    return { tried: `${tried}, ${checked} pushes checked`, faults: load.faults }
  },
}
