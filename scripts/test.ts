// Runs all tests in their phases: `npm test`, or the quick ones alone: `npm run test:quick`. Arguments are handed on to Bun,
// such as `npm run test:quick -- -t purge`.

import { join } from 'node:path'
import { BY_THEMSELVES, commandOf, QUICK, SIDE_BY_SIDE } from './tests.ts'

const [only, ...rest] = process.argv.slice(2)
const isQuick = only === 'quick'
const handedOn = isQuick ? rest : process.argv.slice(2)

let failed = 0
for (const phase of isQuick ? [QUICK] : [QUICK, SIDE_BY_SIDE, BY_THEMSELVES]) {
  console.log(`\n== ${phase.name}: ${phase.files.length} files`)
  const child = Bun.spawn([...commandOf(phase, process.execPath), ...handedOn], {
    cwd: join(import.meta.dir, '..'),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if ((await child.exited) !== 0) failed += 1
}
process.exitCode = failed > 0 ? 1 : 0
