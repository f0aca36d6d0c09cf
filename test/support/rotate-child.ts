// A rotation of the instance key that kills itself at the given step: `rotate-child.ts FOLDER STEP
// [KEY-FILE]`. Prints the number of steps.

import { rotateKey } from '../../src/app/keys.ts'
import { listenAtSteps } from '../../src/store/durable-steps.ts'

const [dataDir = '', killAt = '0', keyFile = null] = process.argv.slice(2)
let steps = 0
listenAtSteps(() => {
  steps += 1
  if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL')
})
await rotateKey({ dataDir, keyFile, address: null })
process.stdout.write(`${steps}\n`)
