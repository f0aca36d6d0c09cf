// The database server crashes under load, and starts again.

import { breakAgainAndAgain } from './breakage.ts'
import type { Scenario } from './scenario.ts'

export const database: Scenario = {
  name: 'database',
  what: 'the database server stopped with "immediate" under load, and started again',
  rounds: 20,
  run: (trial) => {
    const { office, draw } = trial
    const breakOnce = async () => {
      await office.cluster.stop('immediate')
      await Bun.sleep(draw(1500))
      await office.cluster.start()
    }
    return breakAgainAndAgain(trial, { name: 'crashes', after: 500, breakOnce })
  },
}
