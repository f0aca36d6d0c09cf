// Replaces a program and ends itself with SIGKILL after a step: `bun replace-child.ts PATH STEP`.

import { writeFileSync } from 'node:fs'
import { programFiles, replaceProgram } from '../../src/install/program-files.ts'

const [path = '', last = ''] = process.argv.slice(2)
const files = programFiles(path)
writeFileSync(files.staged, 'new')
replaceProgram(files, (step) => {
  if (step === last) process.kill(process.pid, 'SIGKILL')
})
