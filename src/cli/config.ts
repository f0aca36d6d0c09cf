// The settings of a command line: read for `serve`, shown by `oncebox config`.

import type { Command } from 'commander'
import { parsePushAddress } from '../client/link.ts'
import { explainSystemError } from '../domain/system-errors.ts'
import { type Entry, readConfig } from '../settings/fold.ts'
import { nameOf } from '../settings/setting.ts'
import { type Config, settings } from '../settings/table.ts'
import { UsageError } from './failures.ts'
import {
  addSettingFlags,
  addTextFlag,
  givenFlags,
  readOperands,
  textFlag,
  unexpectedArgument,
} from './flags.ts'
import { type EnvFile, parseEnvFile } from './service/env-file.ts'
import type { Shell } from './shell.ts'
import { didYouMean } from './suggestions.ts'
import { alignColumns } from './table.ts'

export function addConfigCommand(program: Command, shell: Shell): void {
  const command = program
    .command('config')
    .usage('[flags]')
    .summary('show the settings that serve would use, and where each comes from')
    .description(
      'Shows the settings that "oncebox serve" would use with the same flags, and where each comes from.',
    )
    .addHelpText('after', '\nExample:\n  ONCEBOX_PORT=8080 oncebox config --base-url https://once.example')
  addEnvFileFlag(command)
  addSettingFlags(command, settings)
  command.action(() => {
    const { entries } = getConfig(command, withEnvFile(command, shell))
    for (const line of presentEntries(entries)) shell.print(line)
  })
}

/** For service managers that cannot read files of variables, and to show the settings of a service. */
export function addEnvFileFlag(command: Command): void {
  addTextFlag(
    command,
    '--env-file <file>',
    'File of settings as variables, a line each, such as ONCEBOX_PORT=8080; variables that are set win',
  )
}

/** The shell with the settings of --env-file in its environment. Throws UsageError when something in it cannot be read. */
export function withEnvFile(command: Command, shell: Shell): Shell {
  const path = textFlag(command, 'env-file')
  if (path === undefined) return shell
  const { place, readFile } = shell
  const name = `--env-file ${JSON.stringify(path)}`
  const { variables, problems } = readEnvFile(() => readFile(path))
  if (problems.length > 0)
    throw new UsageError(
      problems.map((problem) => `${name}: ${problem}`),
      `oncebox ${command.name()}`,
    )
  return { ...shell, place: { ...place, env: { ...variables, ...place.env } } }
}

function readEnvFile(read: () => string): EnvFile {
  try {
    return parseEnvFile(read())
  } catch (cause) {
    const reason = explainSystemError(cause)
    const problem = `must name a readable file${reason === null ? '' : ` (${reason})`}`
    return { variables: {}, problems: [problem] }
  }
}

/** Warns of unknown variables. Throws a UsageError that lists all problems. */
export function getConfig(command: Command, shell: Shell): { config: Config; entries: Entry[] } {
  const { place, readFile } = shell
  const { problems } = readOperands(command, { names: [], explainWord: (word) => explainWord(command, word) })
  const reading = readConfig({ flags: givenFlags(command, settings), place, readFile })
  for (const warning of reading.warnings) shell.say(`oncebox: warning: ${warning}`)
  const all = [...problems, ...(reading.problems ?? [])]
  // After a misspelled command, point to the list of commands instead of the flags of serve.
  const help = problems.length > 0 && isBare(command) ? 'oncebox' : `oncebox ${command.name()}`
  if (all.length > 0 || reading.config === undefined) throw new UsageError(all, help)
  return reading
}

/** Whether `serve` runs because no command was named. */
function isBare(command: Command): boolean {
  return command.name() === 'serve' && command.parent?.args[0] !== 'serve'
}

/** Bare `oncebox` serves, so a misspelled or misplaced command arrives as an argument of `serve`. */
function explainWord(command: Command, word: string): string {
  const commands = command.parent?.commands.map((known) => known.name()) ?? []
  if (commands.includes(word)) return `the command ${word} comes before all flags`
  if (command.parent?.args[0] !== word) return unexpectedArgument(word)
  if (isLink(word)) return 'a link comes after a command: oncebox get LINK'
  const near = didYouMean(word, commands)
  return `unknown command ${JSON.stringify(word)}${near || ` (there are ${commands.join(', ')})`}`
}

/** Whether it is a secret link, which must not be repeated on the screen. */
function isLink(word: string): boolean {
  return (parsePushAddress(word)?.server ?? null) !== null
}

function presentEntries(entries: Entry[]): string[] {
  const rows = entries.map(({ setting, text, from }) => [nameOf(setting), text, from])
  return alignColumns(['SETTING', 'VALUE', 'FROM'], rows)
}
