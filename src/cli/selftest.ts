// `oncebox selftest`: tests the promises of Oncebox on this machine and its disk.

import { MINUTE } from '../domain/time.ts'
import { type Finding, runSelftest } from '../selftest/selftest.ts'
import type { Given } from './command.ts'
import { CommandFailure } from './failures.ts'
import { alignColumns } from './table.ts'

/** A minute of killing. Together with the other tests this takes well under two. */
const DEFAULT_MINUTES = 1

type Selftest = Given<{ minutes: number | null }, { dataDir: string }>

export async function selftest({ flags, config, shell }: Selftest): Promise<void> {
  const seed = shell.now() % 1_000_000_007
  shell.say(`Seed ${seed}`)
  const findings = await runSelftest({
    self: shell.self,
    dataDir: config.dataDir,
    duration: (flags.minutes ?? DEFAULT_MINUTES) * MINUTE,
    seed,
    onStep: (step) => shell.say(`… ${step}`),
  })
  for (const line of presentFindings(findings)) shell.print(line)
  const broken = findings.filter(({ faults }) => faults.length > 0)
  if (broken.length > 0)
    throw new CommandFailure(`${broken.length} of ${findings.length} promises did not hold.`)
  shell.print(`All ${findings.length} promises held.`)
}

function presentFindings(findings: Finding[]): string[] {
  const rows = findings.map(({ promise, tried, faults }) => [
    faults.length === 0 ? 'held' : 'BROKEN',
    promise,
    tried,
  ])
  const faults = findings.flatMap(({ promise, faults: found }) =>
    found.map((fault) => `${promise}: ${fault}`),
  )
  return [...alignColumns(['RESULT', 'PROMISE', 'TRIED'], rows), ...faults]
}
