// `oncebox doctor`: says what is wrong with an installation, and what to do about it.

import type { Command } from 'commander'
import type { Finding } from '../app/doctor/doctor.ts'
import { printableLine } from '../domain/printable.ts'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { getConfig } from './config.ts'
import { ToldFailure } from './failures.ts'
import { addSettingFlags, givenFlags } from './flags.ts'
import { placeWithService } from './service/service-settings.ts'
import type { Shell } from './shell.ts'

const HELP =
  'Looks at everything that a support person would ask for: asks a running server for its checks (/readyz), looks at the same parts of ' +
  'the data folder itself, and at ports, names, proxies and the service unit. Changes nothing (in a bucket it writes and deletes a ' +
  'small object), and prints no secret. --deep also reads the whole database and every sealed file to its end, opens what the instance ' +
  'key alone opens, and says what it cannot check. Root needs no flags for an installed service; otherwise give it the flags and ' +
  'variables of the server. The exit code is 1 when something is wrong.'

const EXAMPLES = `
Examples:
  oncebox doctor
  sudo oncebox doctor                   the installed service
  sudo oncebox doctor --data-dir /srv/oncebox
  oncebox doctor --deep                 read everything, which may take long
  oncebox doctor --json`

const FAILED = 1
const MARKS: Record<Finding['state'], string> = { ok: 'ok     ', warning: 'WARNING', problem: 'PROBLEM' }

export function addDoctorCommand(program: Command, { shell, app }: { shell: Shell; app: App }): void {
  const command = program
    .command('doctor')
    .usage('[flags]')
    .summary('say what is wrong with this installation, and what to do')
    .description(HELP)
    .addHelpText('after', EXAMPLES)
  command.option('--deep', 'read the whole database and every file, and open what the instance key opens')
  command.option('--json', 'print JSON')
  addSettingFlags(command, settings)
  command.action(async () => {
    const place = placeWithService(shell, givenFlags(command, settings))
    const { config } = getConfig(command, { ...shell, place })
    const { now, network } = shell
    const { deep: isDeep = false, json } = command.opts<{ deep?: true; json?: true }>()
    const findings = await app.examine({ config, now, network, version: app.version, isDeep })
    const isWell = !findings.some(({ state }) => state === 'problem')
    if (json) shell.print(JSON.stringify({ version: app.version, ok: isWell, findings }, null, 2))
    else for (const line of presentFindings(findings)) shell.print(line)
    if (!isWell) throw new ToldFailure(FAILED)
  })
}

function presentFindings(findings: readonly Finding[]): string[] {
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length
  const [problems, warnings] = [count('problem'), count('warning')]
  const sum =
    problems + warnings === 0 ? 'Nothing is wrong.' : `Problems: ${problems}. Warnings: ${warnings}.`
  const width = Math.max(...findings.map(({ part }) => part.length))
  const lines = findings.flatMap(({ part, state, said, remedy }) => {
    const line = `${MARKS[state]}  ${part.padEnd(width)}  ${printableLine(said)}`
    return remedy === null ? [line] : [line, `${' '.repeat(width + 11)}→ ${printableLine(remedy)}`]
  })
  return [...lines, sum]
}
