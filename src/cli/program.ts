// The program: commander, made of the table of commands; the format of the help; the exit code.

import { Command as Commander, Help, Option } from 'commander'
import { version } from '../../package.json'
import { defaultText, NO_VALUE, type Setting, type Table, variableOf } from '../settings/setting.ts'
import type { App } from './app.ts'
import { didYouMean } from './arguments.ts'
import { isStartedByClick, keepWindow } from './browser.ts'
import type { Command } from './command.ts'
import { hiddenFlags, readCommandLine, wantsJson } from './command-line.ts'
import { COMMANDS } from './commands.ts'
import { inJson, presentFailure, sayFailure, UsageError } from './failures.ts'
import type { Shell } from './shell.ts'

const EXAMPLES = `
Examples:
  oncebox                           start on http://localhost:5100
  oncebox serve --host 0.0.0.0      start for everyone on the network
  oncebox user add ann@example.org  add an account, even while the server runs
  oncebox serve --help              list all settings with flags and variables`

const TERM_WIDTH = 24

type Parts = { shell: Shell; app: App }

/** Runs one command line (without the program's name) and resolves to the exit code. Never throws. */
export async function runProgram(argv: readonly string[], parts: Parts): Promise<number> {
  const { shell } = parts
  const isClicked = argv.length === 0 && isStartedByClick(shell)
  try {
    const given = isClicked ? ['open'] : [...argv]
    const program = createProgram(parts, given)
    requireKnownTopic(program, argv)
    await program.parseAsync(given, { from: 'user' })
    return 0
  } catch (cause) {
    const { lines, exitCode } = presentFailure(cause)
    for (const line of lines) shell.say(line)
    if (isClicked) await keepWindow(shell)
    return exitCode
  }
}

/** Only commands that `argv` may mean get their flags, because a start would wait for the others; null: all do. */
export function createProgram(parts: Parts, argv: readonly string[] | null): Commander {
  const { shell } = parts
  const program = new Commander('oncebox')
    .description('Oncebox shares passwords, files and links through secret links that expire.')
    .usage('[COMMAND] [flags]')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help; works for each command too')
    .helpCommand('help [command]', 'show help')
    .addHelpText('after', EXAMPLES)
    .configureHelp({
      showGlobalOptions: true,
      padWidth: () => TERM_WIDTH,
      formatItem,
      subcommandTerm,
      optionDescription: ({ description }) => description,
    })
    .configureOutput({
      writeOut: (text) => shell.print(text.trimEnd()),
      writeErr: (text) => shell.say(text.trimEnd()),
      getOutHelpWidth: () => shell.width,
      getErrHelpWidth: () => shell.width,
    })
    .exitOverride()
    // Each command reports all problems itself, not only the first.
    .allowUnknownOption()
    .allowExcessArguments()
  const made = new Map<string, Commander>([['', program]])
  for (const row of COMMANDS) {
    const words = row.name.split(' ')
    const parent = made.get(words.slice(0, -1).join(' ')) ?? program
    const isMeant = argv === null || row.name === 'serve' || words.every((word) => argv.includes(word))
    made.set(row.name, addCommand(parent, { row, word: words.at(-1) ?? '', parts, isMeant }))
  }
  return program
}

type Added = { row: Command; word: string; parts: Parts; isMeant: boolean }

function addCommand(parent: Commander, { row, word, parts, isMeant }: Added): Commander {
  const { flags = {}, settings = {}, operands } = row
  const hasFlags = Object.keys({ ...flags, ...settings }).length > 0
  const usage = [...(operands === undefined ? [] : [operands]), ...(hasFlags ? ['[flags]'] : [])].join(' ')
  const made = parent
    .command(word, { isDefault: row.name === 'serve' })
    .summary(row.summary)
    .description(row.help)
    .allowUnknownOption()
    .allowExcessArguments()
  if (row.heading !== undefined) made.helpGroup(row.heading)
  if (row.examples !== undefined) made.addHelpText('after', `\nExamples:\n${row.examples}`)
  if (row.notes !== undefined) made.addHelpText('after', row.notes)
  if (isMeant) addFlags(made, row)
  // The flags of a command that has others below it are not for those.
  if (parent.parent !== null && parent.options.length > 0)
    made.configureHelp({ ...parent.configureHelp(), showGlobalOptions: false })
  if (row.act === undefined)
    return made
      .helpCommand(true)
      .usage('COMMAND')
      .action(() => refuse(row, made))
  // Commander shows usage of its own for an empty text.
  return made.usage(row.usage ?? (usage || ' ')).action(() => run(row, made, parts))
}

function addFlags(made: Commander, row: Command): void {
  for (const setting of Object.values<Setting>(row.flags ?? {})) made.addOption(optionFor(setting))
  addSettings(made, row.settings ?? {})
  for (const setting of Object.values(hiddenFlags(row))) made.addOption(optionFor(setting).hideHelp())
}

async function run(row: Command, made: Commander, { shell, app }: Parts): Promise<void> {
  if (!(row.isServer && wantsJson(row, made, shell))) return act(row, made, { shell, app })
  await act(row, made, { shell: inJson(shell), app }).catch((cause) => {
    throw sayFailure(shell, cause)
  })
}

async function act(row: Command, made: Commander, parts: Parts): Promise<void> {
  await row.act?.(readCommandLine(row, made, { ...parts, commands: COMMANDS }))
}

/** A group needs a command. */
function refuse(row: Command, made: Commander): never {
  const [first] = made.args
  if (first === undefined) made.help({ error: true })
  const names = made.commands.map((child) => child.name())
  const problem = first?.startsWith('-')
    ? `flags come after the command (one of ${names.join(', ')})`
    : unknownCommand([row.name, first ?? ''], names)
  throw new UsageError([problem], `oncebox ${row.name}`)
}

function unknownCommand(words: readonly string[], names: readonly string[]): string {
  const near = didYouMean(words.at(-1) ?? '', names) || ` (there are ${names.join(', ')})`
  return `unknown command ${JSON.stringify(words.join(' '))}${near}`
}

function addSettings(made: Commander, settings: Table): void {
  const all = Object.values(settings)
  for (const setting of all.filter(({ variableOnly }) => !variableOnly))
    made.addOption(optionFor(setting).helpGroup(`${setting.group}:`))
  const variables = all.filter(({ variableOnly }) => variableOnly)
  if (variables.length === 0) return
  const lines = variables.map((setting) => `  ${variablesOf(setting)}\n    ${setting.help}`)
  made.addHelpText('after', `\nVariables without a flag:\n${lines.join('\n')}`)
}

/** Values are kept as raw text, so that all problems are reported at once. */
function optionFor(setting: Setting): Option {
  const { flag, placeholder, bare, flagOnly, help } = setting
  // Commander would make --no-open the negation of a flag --open, which does not exist.
  if (placeholder === '') return Object.assign(new Option(`--${flag}`, help), { negate: false })
  const value = bare === undefined || bare === NO_VALUE ? `<${placeholder}>` : `[${placeholder}]`
  const option = new Option(`--${flag} ${value}`, flagOnly ? help : describe(setting))
  option
    .argParser((text: string, before: string[] | undefined) => [...(before ?? []), text])
    .preset(bare ?? NO_VALUE)
  // Otherwise commander stops at the first missing value, and takes "--host" as the value of a bare "--port".
  return Object.assign(option, { required: false, optional: true, negate: false })
}

function describe(setting: Setting): string {
  return `${setting.help}.\nDefault: ${defaultText(setting)}. Environment: ${variablesOf(setting)}`
}

function variablesOf(setting: Setting): string {
  const variable = variableOf(setting)
  return setting.file ? `${variable} or ${variable}_FILE` : variable
}

const HELP_FLAGS: ReadonlySet<string> = new Set(['--help', '-h'])

/** For help on an unknown command, commander would print other help without an error. */
function requireKnownTopic(program: Commander, argv: readonly string[]): void {
  const [first = '', ...rest] = argv
  const literal = argv.indexOf('--')
  const asksHelp = argv.slice(0, literal === -1 ? undefined : literal).some((word) => HELP_FLAGS.has(word))
  if (first === 'help') requireKnown(program, rest)
  else if (asksHelp) requireKnown(program, argv)
}

/** Skips flags and links, which must not be repeated on the screen. */
function requireKnown(group: Commander, [word = '', ...rest]: readonly string[]): void {
  const names = group.commands.map((known) => known.name())
  if (names.length === 0 || word === '' || word === 'help' || /^-|\//.test(word)) return
  const known = group.commands.find((candidate) => candidate.name() === word)
  if (known !== undefined) {
    requireKnown(known, rest)
    return
  }
  // A command with arguments of its own, such as `oncebox backup FILE`.
  if (group.parent !== null && !group.usage().startsWith('COMMAND')) return
  const path = group.parent === null ? [] : [group.name()]
  throw new UsageError([unknownCommand([...path, word], names)], ['oncebox', ...path].join(' '))
}

/** Puts a long term on its own line, so that descriptions stay in one column. */
function formatItem(term: string, width: number, description: string, helper: Help): string {
  const format = Help.prototype.formatItem.bind(helper)
  if (term.length <= width) return format(term, width, description, helper)
  return `  ${term}\n${format('', width, description, helper)}`
}

function subcommandTerm(made: Commander): string {
  return `${made.name()} ${made.usage().replace('[flags]', '')}`.trim()
}
