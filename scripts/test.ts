// Runs all tests in their phases: `npm test`, or the quick ones alone: `npm run test:quick`. Arguments are handed on to Bun,
// such as `npm run test:quick -- -t purge`.

import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeFastFolder } from './fast-folder.ts'
import { BY_THEMSELVES, commandOf, type Phase, QUICK, SIDE_BY_SIDE } from './tests.ts'

const [only, ...rest] = process.argv.slice(2)
const isQuick = only === 'quick'
const handedOn = isQuick ? rest : process.argv.slice(2)

async function run(phase: Phase, env: Record<string, string>): Promise<boolean> {
  console.log(`\n== ${phase.name}: ${phase.files.length} files`)
  const child = Bun.spawn([...commandOf(phase, process.execPath), ...handedOn], {
    cwd: join(import.meta.dir, '..'),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return (await child.exited) === 0
}

// They wait for the disk most of the time where it is slow. The last phase measures it.
const folder = makeFastFolder('oncebox-tests-')
// Servers of databases run as users of their own.
chmodSync(folder, 0o711)
const outcomes: boolean[] = []
for (const phase of isQuick ? [QUICK] : [QUICK, SIDE_BY_SIDE])
  outcomes.push(await run(phase, { TMPDIR: folder }))
rmSync(folder, { recursive: true, force: true })
if (!isQuick) outcomes.push(await run(BY_THEMSELVES, {}))
process.exitCode = outcomes.every(Boolean) ? 0 : 1
