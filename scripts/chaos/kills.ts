// A node is killed under load, again and again.

import { breakAgainAndAgain } from './breakage.ts'
import { moment, type Scenario } from './scenario.ts'

export const kills: Scenario = {
  name: 'kills',
  what: 'a node killed with kill -9 under load',
  rounds: 50,
  run: (trial) => {
    const { office, draw } = trial
    const breakOnce = async () => {
      const node = office.nodes[draw(office.nodes.length)]
      await node?.end('SIGKILL')
      await Bun.sleep(moment(draw, 100))
      await node?.start()
    }
    return breakAgainAndAgain(trial, { name: 'kills', after: 300, breakOnce })
  },
}
