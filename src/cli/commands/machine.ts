// Commands about this machine and this program: completion, selftest, doctor, licenses, version.

import { version } from '../../../package.json'
import type { Finding } from '../../app/doctor/doctor.ts'
import { MINUTE } from '../../domain/time.ts'
import { settings } from '../../settings/table.ts'
import { printableLine } from '../../text/printable.ts'
import { command, some, toggle, valued } from '../command.ts'
import { CommandFailure, ReportedFailure } from '../failures.ts'
import { alignColumns } from '../table.ts'

const MAX_MINUTES = 10_080

export const MACHINE = [
  command({
    name: 'completion',
    operands: 'bash|zsh|fish|powershell',
    act: async ({ operands: [name = ''], shell, commands }) => {
      const { completionScript } = await import('../completion.ts')
      shell.printExactly(completionScript(name, commands))
    },
  }),
  command({
    name: 'selftest',
    flags: {
      minutes: {
        ...valued('minutes <number>', (text) => {
          const value = Number(text)
          return value > 0 && value <= MAX_MINUTES
            ? { value }
            : { problem: `must be a number up to ${MAX_MINUTES}` }
        }),
        // A minute of kills, so that the whole self-test takes well under two minutes.
        default: '1',
      },
    },
    settings: some('dataDir'),
    act: async ({ flags, config, shell }) => {
      const { runSelftest } = await import('../../selftest/selftest.ts')
      const seed = shell.now() % 1_000_000_007
      shell.say(`Seed ${seed}`)
      const findings = await runSelftest({
        ...{ self: shell.self, dataDir: config.dataDir, seed },
        duration: flags.minutes * MINUTE,
        onStep: (step) => shell.say(`… ${step}`),
      })
      const rows = findings.map(({ promise, tried, faults }) => [
        ...[faults.length === 0 ? 'held' : 'BROKEN', promise, tried],
      ])
      shell.print(...alignColumns(['RESULT', 'PROMISE', 'TRIED'], ...rows))
      for (const { promise, faults } of findings)
        for (const fault of faults) shell.print(`${promise}: ${fault}`)
      const broken = findings.filter(({ faults }) => faults.length > 0)
      if (broken.length > 0)
        throw new CommandFailure(`${broken.length} of ${findings.length} promises did not hold.`)
      shell.print(`All ${findings.length} promises held.`)
    },
  }),
  command({
    name: 'doctor',
    flags: {
      deep: toggle('deep'),
      json: toggle('json'),
    },
    settings,
    helpedGroup: settings.dataDir.group,
    isOnData: true,
    act: async ({ flags, config, shell, app }) => {
      const { now, network } = shell
      const findings = await app.examine({ config, now, network, version, isDeep: flags.deep })
      const isWell = !findings.some(({ state }) => state === 'problem')
      if (flags.json) shell.print(JSON.stringify({ version, ok: isWell, findings }, null, 2))
      else shell.print(...presentFindings(findings))
      if (!isWell) throw new ReportedFailure(1)
    },
  }),
  command({
    name: 'licenses',
    act: async ({ shell }) => {
      const { default: licenses } = await import('../licenses.txt', { with: { type: 'file' } })
      shell.printExactly(await Bun.file(licenses).text())
    },
  }),
  command({
    name: 'version',
    flags: { json: toggle('json') },
    act: async ({ flags, shell }) => {
      if (!flags.json) return shell.print(version)
      const { describeProgram } = await import('../../install/upgrade.ts')
      shell.print(JSON.stringify(describeProgram(shell.self[0] ?? '')))
    },
  }),
]

const MARKS: Record<Finding['state'], string> = { ok: 'ok', warning: 'WARNING', problem: 'PROBLEM' }

function presentFindings(findings: readonly Finding[]): string[] {
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length
  const [problems, warnings] = [count('problem'), count('warning')]
  const rows = findings.flatMap(({ part, state, said, remedy }) => [
    [MARKS[state], part, printableLine(said)],
    ...(remedy === null ? [] : [['', '', `→ ${printableLine(remedy)}`]]),
  ])
  const sum = `Problems: ${problems}. Warnings: ${warnings}.`
  return [...alignColumns(...rows), problems + warnings === 0 ? 'Nothing is wrong.' : sum]
}
