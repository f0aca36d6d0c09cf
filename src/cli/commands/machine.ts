// Commands on this machine and this program.

import { version } from '../../../package.json'
import { settings } from '../../settings/table.ts'
import { command, toggle, valued } from '../command.ts'
import { anyPath } from '../paths.ts'

/** Those that completion has a script for. */
const SHELLS = ['bash', 'zsh', 'fish', 'powershell']
const MAX_MINUTES = 10_080

const user = toggle('user', 'the service of your own user, in place of that of the machine')

export const MACHINE = [
  command({
    name: 'service',
    summary: 'run Oncebox as a service of this machine or user',
    help:
      'Runs Oncebox as a service: with systemd on Linux, launchd on macOS and the Task Scheduler on Windows. It starts with ' +
      'the machine, under a user of its own; with --user it is a service of your own user.',
    examples: `  sudo oncebox service install                  for this machine, http://localhost:5100
  sudo oncebox service install --lan            for the local network
  sudo oncebox service install --dry-run        show every file and command, change nothing
  oncebox service install --user                for you alone, without root
  oncebox service status
  sudo oncebox service uninstall                keeps the data

Settings are flags of "install", or lines in the file of settings that it names.`,
  }),
  command({
    name: 'service install',
    summary: 'install the service, or apply changed settings, and start it',
    help:
      'Copies this executable to its place, writes the file of settings and the definition of the service, and starts it. ' +
      'Flags are kept in the file of settings. Does nothing that is done already: repeat it to change settings.',
    flags: {
      user,
      dryRun: toggle('dry-run', 'Print every file and command, and change nothing'),
      noStart: toggle('no-start', 'Install it, and leave it to the next start of the machine'),
    },
    settings,
    keepsSettings: true,
    act: async (given) => (await import('../service.ts')).installService(given),
  }),
  command({
    name: 'service uninstall',
    summary: 'stop the service and remove it; the data stays',
    help: 'Stops the service and removes it. Data, settings and executable stay, and it says where they are.',
    flags: { user, dryRun: toggle('dry-run', 'Print what would be removed, and change nothing') },
    act: async (given) => (await import('../service.ts')).uninstallService(given),
  }),
  command({
    name: 'service status',
    summary: 'tell whether the service is installed and runs',
    help: 'Tells whether the service is installed and runs, with its address, folders and log. The exit code is 1 when it does not run.',
    flags: { user },
    act: async (given) => (await import('../service.ts')).showStatus(given),
  }),
  command({
    name: 'upgrade',
    operands: '[FILE]',
    summary: 'replace this program by a signed release from a file, or return',
    help:
      'Replaces this program by a release from FILE, while the server runs. Checks the signature in FILE.minisig, the system and ' +
      'the version that it names, and starts the new program once. The former program stays beside the new one; --back returns ' +
      'to it, and asks first where the data has to go back to before the update too, with every push expired. Nothing is ever fetched. With --database-url upgrade the nodes one after another, ' +
      'because those of the version before go on beside it.',
    examples: `  sudo oncebox upgrade oncebox-3.1.0-linux-x64    with oncebox-3.1.0-linux-x64.minisig beside it
  sudo oncebox upgrade --back                     return to the former program`,
    flags: {
      back: toggle('back', 'Return to the former program'),
      yes: toggle('yes', 'Return without asking, even where that means the data of before the update'),
      publicKey: valued(
        'public-key <key>',
        'Public key of minisign, or a file with one, in place of the built-in keys',
        anyPath,
      ),
    },
    settings: { dataDir: settings.dataDir, databaseUrl: settings.databaseUrl },
    isOnData: true,
    problems: ({ operands: [file], flags }) => {
      if (file === undefined && !flags.back) return ['FILE is missing (or --back)']
      return file !== undefined && flags.back ? ['FILE and --back: give only one of them'] : []
    },
    act: async (given) => (await import('../upgrade.ts')).upgrade(given),
  }),
  command({
    name: 'completion',
    operands: '[SHELL]',
    usage: 'SHELL',
    summary: 'print a script that completes commands and flags in your shell',
    help: 'Prints a script that completes commands and flags. SHELL is one of bash, zsh, fish, powershell.',
    examples: `  bash         echo 'eval "$(oncebox completion bash)"' >> ~/.bashrc
  zsh          echo 'eval "$(oncebox completion zsh)"' >> ~/.zshrc   (after compinit)
  fish         oncebox completion fish > ~/.config/fish/completions/oncebox.fish
  PowerShell   Add-Content $PROFILE 'oncebox completion powershell | Out-String | Invoke-Expression'`,
    problems: ({ operands: [shell] }) => {
      const calls = SHELLS.map((name) => `"oncebox completion ${name}"`)
      if (shell === undefined)
        return [`SHELL is missing: call ${calls.slice(0, -1).join(', ')} or ${calls.at(-1)}`]
      return SHELLS.includes(shell)
        ? []
        : [`SHELL ${JSON.stringify(shell)}: must be one of ${SHELLS.join(', ')}`]
    },
    act: async (given) => (await import('../completion.ts')).complete(given),
  }),
  command({
    name: 'selftest',
    summary: 'test the promises of Oncebox on this machine',
    help:
      'Tests the promises of Oncebox on this machine and its disk: races readers for the last view, repeatedly kills its ' +
      'own server under load, and searches the remaining files for secrets. Works in its own folder beside the data folder, ' +
      'on the same disk, and touches nothing else. Takes about a minute; the exit code is 1 when a promise is broken.',
    examples: `  oncebox selftest
  oncebox selftest --minutes 60          a soak
  oncebox selftest --data-dir /mnt/box   on another disk`,
    flags: {
      minutes: valued('minutes <number>', 'how long to kill servers under load (default 1)', (text) => {
        const value = Number(text)
        return value > 0 && value <= MAX_MINUTES
          ? { value }
          : { problem: `must be a number up to ${MAX_MINUTES}` }
      }),
    },
    settings: { dataDir: settings.dataDir },
    act: async (given) => (await import('../selftest.ts')).selftest(given),
  }),
  command({
    name: 'doctor',
    summary: 'say what is wrong with this installation, and what to do',
    help:
      'Looks at everything that a support person would ask for: asks a running server for its checks (/readyz), looks at the same parts of ' +
      'the data folder itself, and at ports, names, proxies and the service unit. Changes nothing (in a bucket it writes and deletes a ' +
      'small object), and prints no secret. --deep also reads the whole database and every sealed file to its end, opens what the instance ' +
      'key alone opens, and says what it cannot check. Root needs no flags for an installed service; otherwise give it the flags and ' +
      'variables of the server. The exit code is 1 when something is wrong.',
    examples: `  oncebox doctor
  sudo oncebox doctor                   the installed service
  sudo oncebox doctor --data-dir /srv/oncebox
  oncebox doctor --deep                 read everything, which may take long
  oncebox doctor --json`,
    flags: {
      deep: toggle('deep', 'read the whole database and every file, and open what the instance key opens'),
      json: toggle('json', 'print JSON'),
    },
    settings,
    isOnData: true,
    act: async (given) => (await import('../doctor.ts')).doctor(given),
  }),
  command({
    name: 'licenses',
    summary: 'show the licences of everything that is embedded',
    help: 'Shows the packages that are embedded in this binary with their versions, and their licences in full.',
    act: async ({ shell }) => {
      const { default: licenses } = await import('../licenses.txt', { with: { type: 'file' } })
      shell.printExactly(await Bun.file(licenses).text())
    },
  }),
  command({
    name: 'version',
    summary: 'print the version',
    help: 'Prints the version of this program, as --version does.',
    flags: { json: toggle('json', 'Print version, schema of the database and system as JSON') },
    act: async ({ flags, shell }) => {
      if (!flags.json) return shell.print(version)
      const { describeProgram } = await import('../../install/upgrade.ts')
      shell.print(JSON.stringify(describeProgram(shell.self[0] ?? '')))
    },
  }),
]
