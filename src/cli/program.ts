// Runs a command line: finds its command, shows help or the version, and reports failures by a message and an
// exit code.

import { version } from '../../package.json'
import { settings } from '../settings/table.ts'
import { app } from './app.ts'
import { isStartedByClick, keepWindow } from './browser.ts'
import { type Command, childrenOf, isGroup, wordOf } from './command.ts'
import {
  type CommandContext,
  type CommandWords,
  givenFlags,
  readCommandLine,
  wantsJson,
} from './command-line.ts'
import { SERVER } from './commands/server.ts'
import { inJson, presentFailure, ReportedFailure, sayFailure, UsageError, WRONG_USAGE } from './failures.ts'
import { createShell, type Outside } from './shell.ts'
import { type Among, findCommand, hasCommands, hasFlag, readFlags, unknownCommand } from './words.ts'

/** Runs a command line on the real terminal and app. Resolves to the exit code. */
export function runCommandLine(argv: readonly string[], outside: Outside): Promise<number> {
  return runProgram(argv, { shell: createShell(outside), app })
}

/** Runs one command line (without the program's name) and resolves to the exit code. Never throws. */
export async function runProgram(
  argv: readonly string[],
  { shell, app }: Omit<CommandContext, 'commands'>,
): Promise<number> {
  const isClicked = argv.length === 0 && isStartedByClick(shell)
  try {
    const words = isClicked ? ['open'] : argv
    await run(words, { shell, app, commands: await loadCommands(words) })
    return 0
  } catch (cause) {
    const { lines, exitCode } = presentFailure(cause)
    for (const line of lines) shell.say(line)
    if (isClicked) await keepWindow(shell)
    return exitCode
  }
}

/**
 * Returns all commands; for starting a server, only those that concern it, because it would keep the others
 * in memory.
 */
async function loadCommands(argv: readonly string[]): Promise<readonly Command[]> {
  const { words } = readFlags(argv[0] === 'serve' ? argv.slice(1) : argv, settings)
  return words.length === 0 ? SERVER : (await import('./commands.ts')).COMMANDS
}

async function run(argv: readonly string[], parts: CommandContext): Promise<void> {
  const { shell, commands } = parts
  const { row, rest, isHelp } = findCommand(commands, argv)
  const [word = ''] = rest
  if (isHelp || hasFlag(rest, '--help', '-h')) {
    // Do not quote a flag or a link that stands in place of a command.
    if ((row === undefined || needsCommand(commands, row)) && !/^$|^-|[/#]/.test(word))
      throw unknown(word, { commands, group: row })
    return shell.print(await readHelp(row, shell.width))
  }
  if (hasFlag(rest, '--version', '-V')) return shell.print(version)
  if (row !== undefined && isCalledAsGroup(word, { commands, row })) throw await refuseGroup(word, row, parts)
  const isBare = row === undefined
  const called = row ?? commands.find(({ name }) => name === 'serve')
  if (called?.act === undefined) return
  if (!(called.isServer && wantsJson(called, rest, shell)))
    return called.act(await readOrRefuse(called, { rest, isBare }, parts))
  try {
    await called.act(readCommandLine(called, { rest, isBare }, { ...parts, shell: inJson(shell) }))
  } catch (cause) {
    throw sayFailure(shell, cause)
  }
}

/**
 * Whether the row needs a command after it and `word` is none. Where a link is accepted too, a word that
 * looks like one is not a missing command.
 */
function isCalledAsGroup(
  word: string,
  { commands, row }: { commands: readonly Command[]; row: Command },
): boolean {
  return isGroup(row) || (needsCommand(commands, row) && !/[/#]|^-$/.test(word))
}

/** Whether a command or a link must follow the row. `backup`, for example, needs neither. */
function needsCommand(commands: readonly Command[], row: Command): boolean {
  return isGroup(row) || (hasCommands(commands, row) && row.operands?.startsWith('LINK') === true)
}

async function readOrRefuse(row: Command, words: CommandWords, parts: CommandContext) {
  try {
    return readCommandLine(row, words, parts)
  } catch (cause) {
    throw (await row.refuse?.(cause, { raw: givenFlags(row, words.rest), shell: parts.shell })) ?? cause
  }
}

/** Returns the error for a group that was called without a command. */
async function refuseGroup(
  word: string,
  group: Command,
  { commands, shell }: CommandContext,
): Promise<Error> {
  if (word === '') {
    shell.say(await readHelp(group, shell.width))
    return new ReportedFailure(WRONG_USAGE)
  }
  if (!word.startsWith('-')) return unknown(word, { commands, group })
  const names = childrenOf(commands, group.name).map(wordOf)
  return new UsageError(
    [`flags come after the command (one of ${names.join(', ')})`],
    `oncebox ${group.name}`,
  )
}

async function readHelp(row: Command | undefined, width: number): Promise<string> {
  return (await import('./help.ts')).helpOf(row, width)
}

function unknown(word: string, among: Among): UsageError {
  return new UsageError([unknownCommand(word, among)], `oncebox ${among.group?.name ?? ''}`.trim())
}
