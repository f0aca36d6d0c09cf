// Makes a backup and kills itself at the given step: `backup-child.ts FOLDER FILE STEP`. Prints the number of
// steps.

import { backUp } from '../../src/backup/backup.ts'
import { listenAtSteps } from '../../src/store/durable-steps.ts'
import { wishOf } from './backup.ts'

const [dataDir = '', file = '', killAt = '0'] = process.argv.slice(2)
let steps = 0

function step(): void {
  steps += 1
  if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL')
}

listenAtSteps(step)
await backUp(wishOf(dataDir, { file }), {
  now: () => 0,
  writeOutput: async () => undefined,
  onCopying: step,
  onProgress: step,
})
console.log(steps)
