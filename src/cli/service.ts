// `oncebox service …`: installs Oncebox as a service of this machine or user, removes it, and tells how it is.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findIn, type InstalledService } from '../install/installed.ts'
import { systemOf } from '../install/places.ts'
import {
  planService,
  readServiceConfig,
  requireRights,
  requireScope,
  serviceHere,
} from '../install/service.ts'
import { PACKAGED, type Scope, type ServiceHere, type ServicePlaces } from '../install/service-system.ts'
import { presentStep, type Step, takeSteps } from '../install/steps.ts'
import type { Config } from '../settings/table.ts'
import type { Given } from './command.ts'
import { CommandFailure, UsageError } from './failures.ts'
import type { Shell } from './shell.ts'
import { alignColumns } from './table.ts'

const execute = promisify(execFile)

type Service<F = unknown> = Given<F & { user: boolean }>

/** All steps are decided before the first one is taken. */
export async function installService(given: Service<{ dryRun: boolean; noStart: boolean }>): Promise<void> {
  const { flags, raw, shell } = given
  const { place, self, readFile } = shell
  const mayStart = !flags.noStart
  const planned = planService({ scope: scopeOf(flags), flags: raw, mayStart, place, self, readFile })
  for (const warning of planned.warnings) shell.say(`oncebox: warning: ${warning}`)
  if (planned.problems !== undefined) throw new UsageError(planned.problems, 'oncebox service install')
  const { facts, config } = planned
  const steps = systemOf(place.platform).installSteps(facts)
  if (flags.dryRun) return show(steps, shell)
  requireRights(facts, place.platform)
  await take(steps, shell)
  shell.print(mayStart ? 'The service is installed and runs.' : 'The service is installed.')
  for (const line of serviceLines({ ...facts, config, shell })) shell.print(line)
}

/** Keeps data, settings and executable, and names them. */
export async function uninstallService({ flags, shell }: Service<{ dryRun: boolean }>): Promise<void> {
  const { platform } = shell.place
  const here = hereFor(scopeOf(flags), shell)
  const { scope, places } = here
  if (!existsSync(places.definition))
    return void shell.print(`The service is not installed: there is no ${places.definition}.`)
  const service = findIn(scope, shell.place)
  const steps = systemOf(platform).uninstallSteps(here)
  if (flags.dryRun) return show(steps, shell)
  requireScope(scope, platform, 'uninstall')
  await take(steps, shell)
  shell.print('The service is removed.')
  shell.print(`Kept: the data in ${service?.variables.ONCEBOX_DATA_DIR ?? places.dataDir}`)
  shell.print(`Kept: the settings in ${places.envFile}`)
  const program = service?.executable ?? places.executable
  // That of a package is the package's matter.
  if (program !== PACKAGED) shell.print(`Kept: the program ${program}`)
}

/** Throws CommandFailure when the service is not installed or does not run. */
export async function showStatus({ flags, shell }: Service): Promise<void> {
  const here = hereFor(scopeOf(flags), shell)
  const { scope, places } = here
  const service = findIn(scope, shell.place)
  if (service === null && !existsSync(places.definition)) throw notInstalled(here)
  const { isRunning, reason } = await readState(here, shell.place.platform)
  const definition = service?.definition ?? places.definition
  shell.print(`The service is installed (${definition}) and ${isRunning ? 'runs' : 'does not run'}.`)
  if (service === null)
    shell.say(`Its settings in ${places.envFile} are closed to you: run this as root to see them.`)
  else describe(service, here, shell)
  if (isRunning) return
  const why = reason === '' ? '' : ` (${reason})`
  throw new CommandFailure(`The service does not run${why}: its log says why.`)
}

function scopeOf({ user }: { user: boolean }): Scope {
  return user ? 'user' : 'machine'
}

function hereFor(scope: Scope, { place, self }: Shell): ServiceHere {
  return serviceHere(scope, place, self[0] ?? '')
}

function show(steps: readonly Step[], shell: Shell): void {
  for (const line of steps.flatMap(presentStep)) shell.print(line)
}

async function take(steps: readonly Step[], shell: Shell): Promise<void> {
  await takeSteps(steps, (line) => shell.say(`… ${line}`))
}

function describe(service: InstalledService, here: ServiceHere, shell: Shell): void {
  const { scope, places } = here
  for (const problem of service.problems) shell.say(`oncebox: warning: ${problem} (this line has no effect)`)
  const { config, problems, warnings } = readServiceConfig(here, service.variables, shell)
  for (const warning of warnings) shell.say(`oncebox: warning: ${warning}`)
  if (config === undefined) throw new UsageError(problems, 'oncebox service install')
  const envFile = service.envFile ?? service.definition
  const found = { ...places, envFile, executable: service.executable ?? places.executable }
  for (const line of serviceLines({ scope, places: found, config, shell })) shell.print(line)
}

function notInstalled({ scope, places }: ServiceHere): CommandFailure {
  const other =
    scope === 'machine' ? 'that of your own user: add --user' : 'that of the machine: leave --user out'
  return new CommandFailure(`The service is not installed: there is no ${places.definition}. (For ${other}.)`)
}

async function readState(here: ServiceHere, platform: NodeJS.Platform) {
  const { stateCommand, running } = systemOf(platform)
  const [program = '', ...words] = stateCommand(here)
  // systemctl prints the state on standard output, and exits with 3 when the service does not run.
  const said = await execute(program, words).then(
    ({ stdout }) => stdout,
    (cause) =>
      'stdout' in cause && cause.stdout !== '' ? String(cause.stdout) : String(cause.stderr ?? cause.message),
  )
  const isRunning = running.test(said)
  return { isRunning, reason: isRunning ? '' : (said.trim().split('\n')[0] ?? '') }
}

/** Restarts a running service; false without a service manager. Throws CommandFailure when it does not start again. */
export async function restartService(scope: Scope, shell: Shell): Promise<boolean> {
  const here = hereFor(scope, shell)
  if (!here.isManaged) return false
  await take(systemOf(shell.place.platform).restartSteps(here), shell).catch((cause) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CommandFailure(
      `The service did not start again: ${reason} "oncebox upgrade --back" returns to the former program.`,
    )
  })
  shell.print('The service was restarted.')
  return true
}

type Reported = {
  scope: Scope
  places: Pick<ServicePlaces, 'envFile' | 'logFile' | 'executable'>
  config: Pick<Config, 'dataDir' | 'host' | 'port' | 'baseUrl' | 'tls' | 'mdns' | 'logFile' | 'backupDir'>
  shell: Pick<Shell, 'place' | 'network'>
}

/** A line each. */
function serviceLines({ scope, places, config, shell }: Reported): string[] {
  const { platform } = shell.place
  return alignColumns(
    ['Open:', addressOf(config, shell)],
    [
      ['Data:', config.dataDir],
      ...(config.backupDir === null ? [] : [['Backups:', config.backupDir]]),
      ['Settings:', `${places.envFile} (then: ${systemOf(platform).restartCommand(scope)})`],
      [
        'Log:',
        config.logFile ?? places.logFile ?? `journalctl ${scope === 'user' ? '--user ' : ''}-u oncebox`,
      ],
      ['Program:', places.executable],
      [
        'Administrator:',
        `the link in ${join(config.dataDir, 'setup-link')}, or "${scope === 'machine' && platform !== 'win32' ? 'sudo ' : ''}oncebox user add EMAIL --admin"`,
      ],
    ],
  )
}

/** The address to open in a browser. A server for the whole network gets this machine's name. */
function addressOf(
  { host, port, baseUrl, tls, mdns }: Reported['config'],
  { network }: Pick<Shell, 'network'>,
): string {
  if (baseUrl !== null) return baseUrl
  if (host.startsWith('unix:')) return `${host}, behind a reverse proxy`
  const isEverywhere = host === '0.0.0.0' || host === '::'
  const name = mdns !== null ? `${mdns}.local` : isEverywhere ? network.hostName() : host
  const scheme = tls === 'off' ? 'http' : 'https'
  const isUsual = port === (tls === 'off' ? 80 : 443)
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}${isUsual ? '' : `:${port}`}`
}
