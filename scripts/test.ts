// Runs the tests in their phases: `npm test`, `npm run test:slow` or `npm run test:quick`. Passes other
// arguments to Bun, such as `npm run test:quick -- -t purge`. Finally prints a table of the tests that were
// skipped because a program is missing.

import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeFastFolder } from './fast-folder.ts'
import { createSkips } from './skips.ts'
import { BY_THEMSELVES, commandOf, LONG, type Phase, QUICK, SIDE_BY_SIDE } from './tests.ts'

const PLANS: Record<string, readonly Phase[]> = { quick: [QUICK], slow: [LONG] }
const EVERY_DAY = [QUICK, SIDE_BY_SIDE, BY_THEMSELVES]

const [word = '', ...rest] = process.argv.slice(2)
const named = PLANS[word]
const [plan, handedOn] = named === undefined ? [EVERY_DAY, process.argv.slice(2)] : [named, rest]
const skips = createSkips()

async function run(phase: Phase, env: Record<string, string>): Promise<boolean> {
  console.log(`\n== ${phase.name}: ${phase.files.length} files`)
  const colour: Record<string, string> = process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}
  const child = Bun.spawn([...commandOf(phase, process.execPath), ...handedOn], {
    cwd: join(import.meta.dir, '..'),
    env: { ...process.env, ...colour, ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  await skips.passOn(child.stderr)
  return (await child.exited) === 0
}

// Most tests mainly wait for the disk, so use a folder in memory. The last phase measures the disk.
const folder = makeFastFolder('oncebox-tests-')
// Database servers run as their own users, who need access.
chmodSync(folder, 0o711)
const outcomes: boolean[] = []
for (const phase of plan) outcomes.push(await run(phase, phase === BY_THEMSELVES ? {} : { TMPDIR: folder }))
rmSync(folder, { recursive: true, force: true })
console.log(skips.table())
process.exitCode = outcomes.every(Boolean) ? 0 : 1
