// `oncebox service …`: installs Oncebox as a service of this machine or user, removes it, and reports its
// state.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../../domain/system-errors.ts'
import { findIn } from '../../install/installed.ts'
import { systemOf } from '../../install/places.ts'
import {
  planService,
  readServiceConfig,
  requireRights,
  requireScope,
  serviceHere,
} from '../../install/service.ts'
import { PACKAGED, type Scope, type ServiceHere, type ServicePlaces } from '../../install/service-system.ts'
import { type InstallStep, presentStep, takeSteps } from '../../install/steps.ts'
import { type Config, settings } from '../../settings/table.ts'
import { command, toggle } from '../command.ts'
import { CommandFailure, UsageError } from '../failures.ts'
import type { Shell } from '../shell.ts'
import { alignColumns } from '../table.ts'

const user = toggle('user')

export const SERVICE = [
  { name: 'service' },
  command({
    name: 'service install',
    flags: {
      user,
      dryRun: toggle('dry-run'),
      noStart: toggle('no-start'),
    },
    settings,
    keepsSettings: true,
    // Determine all steps before the first one is taken.
    act: async ({ flags, raw, shell }) => {
      const { os, self, readFile } = shell
      const mayStart = !flags.noStart
      const planned = planService({ scope: scopeOf(flags), flags: raw, mayStart, os, self, readFile })
      shell.warn(...planned.warnings)
      if (planned.problems !== undefined) throw new UsageError(planned.problems, 'oncebox service install')
      const { facts, config } = planned
      const steps = systemOf(os.platform).installSteps(facts)
      if (flags.dryRun) return shell.print(...steps.flatMap(presentStep))
      requireRights(facts, os.platform)
      await take(steps, shell)
      shell.print(mayStart ? 'The service is installed and runs.' : 'The service is installed.')
      shell.print(...serviceLines({ ...facts, config, shell }))
    },
  }),
  command({
    name: 'service uninstall',
    flags: { user, dryRun: toggle('dry-run') },
    act: async ({ flags, shell }) => {
      const { platform } = shell.os
      const here = hereFor(scopeOf(flags), shell)
      const { scope, places } = here
      if (!existsSync(places.definition))
        return shell.print(`The service is not installed: there is no ${places.definition}.`)
      const service = findIn(scope, shell.os)
      const steps = systemOf(platform).uninstallSteps(here)
      if (flags.dryRun) return shell.print(...steps.flatMap(presentStep))
      requireScope(scope, platform, 'uninstall')
      await take(steps, shell)
      shell.print(
        'The service is removed.',
        `Kept: the data in ${service?.variables.ONCEBOX_DATA_DIR ?? places.dataDir}`,
        `Kept: the settings in ${places.envFile}`,
        // Do not remove the executable of a package: the package does.
        ...(places.executable === PACKAGED ? [] : [`Kept: the program ${places.executable}`]),
      )
    },
  }),
  command({
    name: 'service status',
    flags: { user },
    act: async ({ flags, shell }) => {
      const here = hereFor(scopeOf(flags), shell)
      const { scope, places } = here
      const service = findIn(scope, shell.os)
      if (service === null && !existsSync(places.definition)) throw notInstalled(here)
      const { isRunning, reason } = await readState(here, shell.os.platform)
      shell.print(
        `The service is installed (${places.definition}) and ${isRunning ? 'runs' : 'does not run'}.`,
      )
      if (service === null)
        shell.say(
          `Its settings in ${places.envFile} cannot be read: run this as root, unless you wrote the unit yourself.`,
        )
      else {
        const { config, problems = [], ...read } = readServiceConfig(here, service.variables, shell)
        const wrong = service.problems.map((problem) => `${problem} (this line has no effect)`)
        shell.warn(...wrong, ...read.warnings)
        if (config === undefined) throw new UsageError(problems, 'oncebox service install')
        shell.print(...serviceLines({ scope, places, config, shell }))
      }
      if (!isRunning) throw new CommandFailure(`The service does not run${reason}: its log says why.`)
    },
  }),
]

function scopeOf({ user }: { user: boolean }): Scope {
  return user ? 'user' : 'machine'
}

function hereFor(scope: Scope, { os, self }: Shell): ServiceHere {
  return serviceHere(scope, os, self[0] ?? '')
}

async function take(steps: readonly InstallStep[], shell: Shell): Promise<void> {
  await takeSteps(steps, (line) => shell.say(`… ${line}`))
}

function notInstalled({ scope, places }: ServiceHere): CommandFailure {
  const other =
    scope === 'machine' ? 'that of your own user: add --user' : 'that of the machine: leave --user out'
  return new CommandFailure(`The service is not installed: there is no ${places.definition}. (For ${other}.)`)
}

const execute = promisify(execFile)

/**
 * Asks the service manager for the state. `reason`: in brackets, what it says about a service that does not
 * run.
 */
async function readState(here: ServiceHere, platform: NodeJS.Platform) {
  const { stateCommand, running } = systemOf(platform)
  const [program = '', ...words] = stateCommand(here)
  // systemctl prints the state on standard output, and exits with 3 when the service does not run.
  const said = await execute(program, words).then(
    ({ stdout }) => stdout,
    (cause) => String(cause.stdout || (cause.stderr ?? cause.message)),
  )
  const [line = ''] = said.trim().split('\n')
  return { isRunning: running.test(said), reason: line === '' ? '' : ` (${line})` }
}

/**
 * Restarts a running service. Resolves to false without a service manager. Throws CommandFailure when the
 * service does not start again.
 */
export async function restartService(scope: Scope, shell: Shell): Promise<boolean> {
  const here = hereFor(scope, shell)
  if (!here.isManaged) return false
  await take(systemOf(shell.os.platform).restartSteps(here), shell).catch((cause) => {
    throw new CommandFailure(
      `The service did not start again: ${messageOf(cause)} "oncebox upgrade --back" returns to the former program.`,
    )
  })
  shell.print('The service was restarted.')
  return true
}

type ServiceReport = {
  scope: Scope
  places: Pick<ServicePlaces, 'envFile' | 'logFile' | 'executable'>
  config: Config
  shell: Shell
}

/** Formats the facts about a service, one a line. */
function serviceLines({ scope, places, config, shell }: ServiceReport): string[] {
  const { platform } = shell.os
  const log = config.logFile ?? places.logFile ?? `journalctl ${scope === 'user' ? '--user ' : ''}-u oncebox`
  const sudo = scope === 'machine' && platform !== 'win32' ? 'sudo ' : ''
  const setup = `the link in ${join(config.dataDir, 'setup-link')}, or "${sudo}oncebox user add EMAIL --admin"`
  return alignColumns(
    ['Open:', addressOf(config, shell)],
    ['Data:', config.dataDir],
    ...(config.backupDir === null ? [] : [['Backups:', config.backupDir]]),
    ['Settings:', `${places.envFile} (then: ${systemOf(platform).restartCommand(scope)})`],
    ['Log:', log],
    ['Program:', places.executable],
    ['Administrator:', setup],
  )
}

/** Returns the address to open in a browser, with this machine's name for a server of the whole network. */
function addressOf({ host, port, baseUrl, tls, mdns }: Config, { network }: Shell): string {
  if (baseUrl !== null) return baseUrl
  if (host.startsWith('unix:')) return `${host}, behind a reverse proxy`
  const isEverywhere = host === '0.0.0.0' || host === '::'
  const name = mdns !== null ? `${mdns}.local` : isEverywhere ? network.hostName() : host
  const scheme = tls === 'off' ? 'http' : 'https'
  const isUsual = port === (tls === 'off' ? 80 : 443)
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}${isUsual ? '' : `:${port}`}`
}
