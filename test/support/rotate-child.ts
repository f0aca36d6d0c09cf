// A rotation of the instance key that ends itself at the given step: `rotate-child.ts FOLDER STEP`. Prints the number of steps.

import { rotateKey } from '../../src/app/keys.ts'

const [dataDir = '', killAt = '0'] = process.argv.slice(2)
let steps = 0
await rotateKey({ dataDir, keyFile: null, address: null }, () => {
  steps += 1
  if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL')
})
process.stdout.write(`${steps}\n`)
