// `oncebox service …`: installs Oncebox as a service of this machine or user, removes it, and tells how it is.

import type { Command } from 'commander'
import { settings } from '../../settings/table.ts'
import { addGroup } from '../account-command.ts'
import { UsageError } from '../failures.ts'
import { addSettingFlags, givenFlags, isGiven, readOperands } from '../flags.ts'
import type { Shell } from '../shell.ts'
import { installService } from './install.ts'
import type { Scope } from './places.ts'
import { showStatus, uninstallService } from './status.ts'

const HELP =
  'Runs Oncebox as a service: with systemd on Linux, launchd on macOS and the Task Scheduler on Windows. It starts with ' +
  'the machine, under a user of its own; with --user it is a service of your own user.'

const EXAMPLES = `
Examples:
  sudo oncebox service install                  for this machine, http://localhost:5100
  sudo oncebox service install --lan            for the local network
  sudo oncebox service install --dry-run        show every file and command, change nothing
  oncebox service install --user                for you alone, without root
  oncebox service status
  sudo oncebox service uninstall                keeps the data

Settings are flags of "install", or lines in the file of settings that it names.`

export function addServiceCommands(program: Command, shell: Shell): void {
  const service = addGroup(program, {
    name: 'service',
    summary: 'run Oncebox as a service of this machine or user',
    help: HELP,
    examples: EXAMPLES,
  })
  const add = (name: string, summary: string, help: string) =>
    service
      .command(name)
      .usage('[flags]')
      .summary(summary)
      .description(help)
      .option('--user', 'the service of your own user, in place of that of the machine')

  const install = add(
    'install',
    'install the service, or apply changed settings, and start it',
    'Copies this executable to its place, writes the file of settings and the definition of the service, and starts it. ' +
      'Flags are kept in the file of settings. Does nothing that is done already: repeat it to change settings.',
  )
  install
    .option('--dry-run', 'Print every file and command, and change nothing')
    .option('--no-start', 'Install it, and leave it to the next start of the machine')
  addSettingFlags(install, settings)
  install.action(async () => {
    requireNoOperands(install)
    await installService({
      scope: scopeOf(install),
      flags: givenFlags(install, settings),
      isDry: isGiven(install, 'dryRun'),
      mayStart: !isNoStart(install),
      shell,
    })
  })

  const uninstall = add(
    'uninstall',
    'stop the service and remove it; the data stays',
    'Stops the service and removes it. Data, settings and executable stay, and it says where they are.',
  ).option('--dry-run', 'Print what would be removed, and change nothing')
  uninstall.action(async () => {
    requireNoOperands(uninstall)
    await uninstallService({ scope: scopeOf(uninstall), isDry: isGiven(uninstall, 'dryRun'), shell })
  })

  const status = add(
    'status',
    'tell whether the service is installed and runs',
    'Tells whether the service is installed and runs, with its address, folders and log. The exit code is 1 when it does not run.',
  )
  status.action(async () => {
    requireNoOperands(status)
    await showStatus({ scope: scopeOf(status), shell })
  })
}

function scopeOf(command: Command): Scope {
  return isGiven(command, 'user') ? 'user' : 'machine'
}

/** Commander reads `--no-start` as the negation of `--start`. */
function isNoStart(command: Command): boolean {
  return command.getOptionValue('start') === false
}

function requireNoOperands(command: Command): void {
  const { problems } = readOperands(command, { names: [] })
  if (problems.length > 0) throw new UsageError(problems, `oncebox service ${command.name()}`)
}
