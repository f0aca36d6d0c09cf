// The command line: its commands, the format of the help, and the exit code.

import { Command, Help, type Option } from 'commander'
import type { App } from './app.ts'
import { addBackupCommand } from './backup.ts'
import { addVerifyCommand } from './backup-verify.ts'
import { addCompletionCommand } from './completion.ts'
import { addConfigCommand } from './config.ts'
import { addDoctorCommand } from './doctor.ts'
import { addEditCommand } from './edit.ts'
import { addExpireAllCommand } from './expire-all.ts'
import { addExportCommand } from './export.ts'
import { presentFailure, UsageError } from './failures.ts'
import { readOperands } from './flags.ts'
import { addGetCommand } from './get.ts'
import { addHealthCommand } from './health.ts'
import { addImportCommands } from './import.ts'
import { addLicensesCommand } from './licenses.ts'
import { addLoginCommands } from './login.ts'
import { addAuditCommand, addExpireCommand, addListCommand } from './manage.ts'
import { addNewKeyCommand } from './new-key.ts'
import { addOpenCommand, isStartedByClick, keepWindow } from './open.ts'
import { addPushCommand } from './push.ts'
import { addRestoreCommand } from './restore.ts'
import { addSelftestCommand } from './selftest.ts'
import { addServeCommand } from './serve.ts'
import { addServiceCommands } from './service/command.ts'
import type { Shell } from './shell.ts'
import { didYouMean } from './suggestions.ts'
import { addTokenCommands } from './token.ts'
import { addTrustCommand } from './trust.ts'
import { addUpgradeCommand } from './upgrade.ts'
import { addUserCommands } from './user.ts'

const EXAMPLES = `
Examples:
  oncebox                           start on http://localhost:5100
  oncebox serve --host 0.0.0.0      start for everyone on the network
  oncebox user add ann@example.org  add an account, even while the server runs
  oncebox serve --help              list all settings with flags and variables`

const TERM_WIDTH = 24

/** Runs one command line (without the program's name) and resolves to the exit code. Never throws. */
export async function runProgram(
  argv: readonly string[],
  parts: { shell: Shell; app: App },
): Promise<number> {
  const { shell } = parts
  const isClicked = argv.length === 0 && isStartedByClick(shell)
  try {
    const program = createProgram(parts)
    requireKnownTopic(program, argv)
    await program.parseAsync(isClicked ? ['open'] : [...argv], { from: 'user' })
    return 0
  } catch (cause) {
    const { lines, exitCode } = presentFailure(cause)
    for (const line of lines) shell.say(line)
    if (isClicked) await keepWindow(shell)
    return exitCode
  }
}

export function createProgram(parts: { shell: Shell; app: App }): Command {
  const { shell, app } = parts
  const program = new Command('oncebox')
    .description('Oncebox shares passwords, files and links through secret links that expire.')
    .usage('[COMMAND] [flags]')
    .version(app.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help; works for each command too')
    .helpCommand('help [command]', 'show help')
    .addHelpText('after', EXAMPLES)
    .configureHelp({
      showGlobalOptions: true,
      padWidth: () => TERM_WIDTH,
      formatItem,
      subcommandTerm,
      optionDescription,
    })
    .configureOutput({
      writeOut: (text) => shell.print(text.trimEnd()),
      writeErr: (text) => shell.say(text.trimEnd()),
      getOutHelpWidth: () => shell.width,
      getErrHelpWidth: () => shell.width,
    })
    .exitOverride()
  addServeCommand(program, parts)
  addOpenCommand(program, parts)
  addHealthCommand(program, parts)
  addConfigCommand(program, shell)
  addUserCommands(program, parts)
  addTokenCommands(program, parts)
  addNewKeyCommand(program, parts)
  addImportCommands(program, parts)
  addVerifyCommand(addBackupCommand(program, parts), parts)
  addRestoreCommand(program, parts)
  addExpireAllCommand(program, parts)
  addPushCommand(program, parts)
  addGetCommand(program, parts)
  addExpireCommand(program, parts)
  addEditCommand(program, parts)
  addAuditCommand(program, parts)
  addListCommand(program, parts)
  addExportCommand(program, parts)
  addLoginCommands(program, parts)
  addTrustCommand(program, parts)
  addServiceCommands(program, shell)
  addUpgradeCommand(program, parts)
  addCompletionCommand(program, shell)
  addSelftestCommand(program, shell)
  addDoctorCommand(program, parts)
  addLicensesCommand(program, shell)
  addVersionCommand(program, parts)
  for (const command of everyCommand(program)) command.allowUnknownOption().allowExcessArguments()
  return program
}

/** For help on an unknown command, commander would print other help without an error. */
function requireKnownTopic(program: Command, argv: readonly string[]): void {
  const [first = '', ...rest] = argv
  const literal = argv.indexOf('--')
  const asksHelp = argv.slice(0, literal === -1 ? undefined : literal).some((word) => HELP_FLAGS.has(word))
  if (first === 'help') requireKnown(program, rest)
  else if (asksHelp) requireKnown(program, argv)
}

const HELP_FLAGS: ReadonlySet<string> = new Set(['--help', '-h'])

/** Skips flags and links, which must not be repeated on the screen. */
function requireKnown(group: Command, [word = '', ...rest]: readonly string[]): void {
  const names = group.commands.map((known) => known.name())
  if (names.length === 0 || word === '' || word === 'help' || /^-|\//.test(word)) return
  const command = group.commands.find((known) => known.name() === word)
  // A command with arguments of its own, such as `oncebox backup FILE`.
  if (command === undefined && group.parent !== null && !group.usage().startsWith('COMMAND')) return
  if (command !== undefined) {
    requireKnown(command, rest)
    return
  }
  const path = group.parent === null ? [] : [group.name()]
  const near = didYouMean(word, names) || ` (there are ${names.join(', ')})`
  throw new UsageError(
    [`unknown command ${JSON.stringify([...path, word].join(' '))}${near}`],
    ['oncebox', ...path].join(' '),
  )
}

function addVersionCommand(program: Command, { shell, app }: { shell: Shell; app: App }): void {
  const command = program
    .command('version')
    .usage(' ')
    .summary('print the version')
    .description('Prints the version of this program, as --version does.')
    .option('--json', 'Print version, schema of the database and system as JSON')
  command.action(() => {
    const { problems } = readOperands(command, { names: [] })
    if (problems.length > 0) throw new UsageError(problems, 'oncebox version')
    const isJson = command.getOptionValue('json') === true
    const [executable = ''] = shell.self
    shell.print(isJson ? JSON.stringify(app.describeProgram(executable)) : app.version)
  })
}

/** All commands. They accept unknown words, so that each can report all problems, not only the first. */
function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

/** Puts a long term on its own line, so that descriptions stay in one column. */
function formatItem(term: string, width: number, description: string, helper: Help): string {
  const format = Help.prototype.formatItem.bind(helper)
  if (term.length <= width) return format(term, width, description, helper)
  return `  ${term}\n${format('', width, description, helper)}`
}

/** The description alone. It already contains what commander would add. */
function optionDescription(option: Option): string {
  return option.description
}

function subcommandTerm(command: Command): string {
  return `${command.name()} ${command.usage().replace('[flags]', '')}`.trim()
}
