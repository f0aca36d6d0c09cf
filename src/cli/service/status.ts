// `oncebox service status` and `uninstall`, which both read the installed service.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { CommandFailure } from '../failures.ts'
import type { Shell } from '../shell.ts'
import { readServiceConfig, requireScope } from './install.ts'
import { restartSteps, uninstallSteps } from './install-plan.ts'
import { findIn, type InstalledService } from './installed.ts'
import { LAUNCHD_LABEL } from './launchd-job.ts'
import { PACKAGED, placesFor, type Scope, type ServicePlaces } from './places.ts'
import { serviceLines } from './report.ts'
import { presentStep, takeSteps } from './steps.ts'

const execute = promisify(execFile)

type Options = { scope: Scope; shell: Shell }

/** Throws CommandFailure when the service is not installed or does not run. */
export async function showStatus({ scope, shell }: Options): Promise<void> {
  const places = placesOf(scope, shell)
  const service = findIn(scope, shell.place)
  if (service === null && !existsSync(places.definition)) throw notInstalled(scope, places)
  const state = await readState(scope, shell.place.platform)
  const definition = service?.definition ?? places.definition
  shell.print(`The service is installed (${definition}) and ${state.isRunning ? 'runs' : 'does not run'}.`)
  if (service === null)
    shell.say(`Its settings in ${places.envFile} are closed to you: run this as root to see them.`)
  else describe(service, { scope, places, shell })
  if (state.isRunning) return
  const reason = state.reason === '' ? '' : ` (${state.reason})`
  throw new CommandFailure(`The service does not run${reason}: its log says why.`)
}

function describe(
  service: InstalledService,
  { scope, places, shell }: Options & { places: ServicePlaces },
): void {
  for (const problem of service.problems) shell.say(`oncebox: warning: ${problem} (this line has no effect)`)
  const config = readServiceConfig(service.variables, { places, shell })
  const envFile = service.envFile ?? service.definition
  const found = { ...places, envFile, executable: service.executable ?? places.executable }
  for (const line of serviceLines({ scope, places: found, config, shell })) shell.print(line)
}

function notInstalled(scope: Scope, { definition }: ServicePlaces): CommandFailure {
  const other =
    scope === 'machine' ? 'that of your own user: add --user' : 'that of the machine: leave --user out'
  return new CommandFailure(`The service is not installed: there is no ${definition}. (For ${other}.)`)
}

function placesOf(scope: Scope, { place, self }: Shell): ServicePlaces {
  return placesFor(scope, { place, self: self[0] ?? '' })
}

type State = { isRunning: boolean; reason: string }

const STATE_COMMANDS: Partial<Record<NodeJS.Platform, (scope: Scope) => string[]>> = {
  win32: () => ['schtasks', '/Query', '/TN', 'Oncebox', '/FO', 'LIST'],
  darwin: (scope) => [
    'launchctl',
    'print',
    scope === 'machine' ? `system/${LAUNCHD_LABEL}` : `gui/${process.getuid?.()}/${LAUNCHD_LABEL}`,
  ],
}

async function readState(scope: Scope, platform: NodeJS.Platform): Promise<State> {
  const systemctl = ['systemctl', ...(scope === 'user' ? ['--user'] : []), 'is-active', 'oncebox.service']
  const [program = '', ...words] = STATE_COMMANDS[platform]?.(scope) ?? systemctl
  // systemctl prints the state on standard output, and exits with 3 when the service does not run.
  const said = await execute(program, words).then(
    ({ stdout }) => stdout,
    (cause) =>
      'stdout' in cause && cause.stdout !== '' ? String(cause.stdout) : String(cause.stderr ?? cause.message),
  )
  const isRunning =
    platform === 'linux'
      ? /^(active|reloading)$/m.test(said)
      : /\b(state = running|Status:\s+Running)\b/i.test(said)
  return { isRunning, reason: isRunning ? '' : (said.trim().split('\n')[0] ?? '') }
}

/** Keeps data, settings and executable, and names them. */
export async function uninstallService({ scope, isDry, shell }: Options & { isDry: boolean }): Promise<void> {
  const { platform } = shell.place
  const places = placesOf(scope, shell)
  if (!existsSync(places.definition) && !isDry) {
    shell.print(`The service is not installed: there is no ${places.definition}.`)
    return
  }
  const service = findIn(scope, shell.place)
  const isManaged = existsSync('/run/systemd/system')
  const userName = String(process.getuid?.() ?? '')
  const steps = uninstallSteps({ scope, platform, places, isManaged, userName })
  if (isDry) {
    for (const line of steps.flatMap(presentStep)) shell.print(line)
    return
  }
  requireScope(scope, { platform, command: 'uninstall' })
  await takeSteps(steps, { isChanged: false, tell: (line) => shell.say(`… ${line}`) })
  shell.print('The service is removed.')
  shell.print(`Kept: the data in ${service?.variables.ONCEBOX_DATA_DIR ?? places.dataDir}`)
  shell.print(`Kept: the settings in ${places.envFile}`)
  const program = service?.executable ?? places.executable
  // That of a package is the package's matter.
  if (program !== PACKAGED) shell.print(`Kept: the program ${program}`)
}

/** Restarts a running service; false without a service manager. Throws CommandFailure when it does not start again. */
export async function restartService(scope: Scope, shell: Shell): Promise<boolean> {
  const { platform } = shell.place
  if (platform === 'linux' && !existsSync('/run/systemd/system')) return false
  const [first, ...rest] = restartSteps(scope, { platform, userName: String(process.getuid?.() ?? '') })
  if (first === undefined) return false
  try {
    await takeSteps([first, ...rest], { isChanged: true, tell: (line) => shell.say(`… ${line}`) })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CommandFailure(
      `The service did not start again: ${reason} "oncebox upgrade --back" returns to the former program.`,
    )
  }
  shell.print('The service was restarted.')
  return true
}
