// Replaces a program and ends itself with SIGKILL after a step: `bun replace-child.ts PATH STEP`.

import { writeFileSync } from 'node:fs'
import { programFiles, replaceProgram } from '../../src/install/program-files.ts'
import { listenAtSteps } from '../../src/store/durable-steps.ts'

const [path = '', last = ''] = process.argv.slice(2)
const files = programFiles(path)
writeFileSync(files.staged, 'new')
listenAtSteps((step) => {
  if (step === last) process.kill(process.pid, 'SIGKILL')
})
replaceProgram(files)
