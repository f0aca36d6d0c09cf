// `oncebox selftest`: tests the promises of Oncebox on this machine and its disk.

import type { Command } from 'commander'
import { type Finding, runSelftest } from '../selftest/selftest.ts'
import { readSettings } from '../settings/fold.ts'
import { settings } from '../settings/table.ts'
import { CommandFailure, UsageError } from './failures.ts'
import { addSettingFlags, addTextFlag, givenFlags, readOperands, textFlag } from './flags.ts'
import type { Shell } from './shell.ts'
import { alignColumns } from './table.ts'

const TABLE = { dataDir: settings.dataDir }
const MINUTE = 60_000
/** Together with the other tests this takes well under two minutes. */
const DEFAULT_KILLING = MINUTE
const MAX_MINUTES = 10_080

const HELP =
  'Tests the promises of Oncebox on this machine and its disk: races readers for the last view, repeatedly kills its ' +
  'own server under load, and searches the remaining files for secrets. Works in its own folder beside the data folder, ' +
  'on the same disk, and touches nothing else. Takes about a minute; the exit code is 1 when a promise is broken.'

const EXAMPLES = `
Examples:
  oncebox selftest
  oncebox selftest --minutes 60          a soak
  oncebox selftest --data-dir /mnt/box   on another disk`

export function addSelftestCommand(program: Command, shell: Shell): void {
  const command = program
    .command('selftest')
    .usage('[flags]')
    .summary('test the promises of Oncebox on this machine')
    .description(HELP)
    .addHelpText('after', EXAMPLES)
  addTextFlag(command, '--minutes <number>', 'how long to kill servers under load (default 1)')
  addSettingFlags(command, TABLE)
  command.action(async () => {
    const { dataDir, minutes } = readCommandLine(command, shell)
    const seed = shell.now() % 1_000_000_007
    shell.say(`Seed ${seed}`)
    const findings = await runSelftest({
      self: shell.self,
      dataDir,
      duration: minutes === null ? DEFAULT_KILLING : minutes * MINUTE,
      seed,
      onStep: (step) => shell.say(`… ${step}`),
    })
    for (const line of presentFindings(findings)) shell.print(line)
    const broken = findings.filter(({ faults }) => faults.length > 0)
    if (broken.length > 0)
      throw new CommandFailure(`${broken.length} of ${findings.length} promises did not hold.`)
    shell.print(`All ${findings.length} promises held.`)
  })
}

function readCommandLine(command: Command, shell: Shell) {
  const { problems } = readOperands(command, { names: [] })
  const reading = readSettings(TABLE, {
    flags: givenFlags(command, TABLE),
    place: shell.place,
    readFile: shell.readFile,
  })
  const text = textFlag(command, 'minutes')
  const minutes = text === undefined ? null : Number(text)
  const isWrong = minutes !== null && !(minutes > 0 && minutes <= MAX_MINUTES)
  const all = [
    ...problems,
    ...(isWrong ? [`--minutes ${JSON.stringify(text)}: must be a number up to ${MAX_MINUTES}`] : []),
    ...(reading.problems ?? []),
  ]
  if (all.length > 0 || reading.config === undefined) throw new UsageError(all, 'oncebox selftest')
  return { dataDir: reading.config.dataDir, minutes }
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
