// Splits a command line into the command that it names, its flags and its arguments. Reports all problems at
// once.

import { parseLinkOrToken } from '../client/link.ts'
import { parseEmail } from '../domain/account.ts'
import { type Parsed, serverUrl } from '../settings/parsers.ts'
import type { SettingsTable } from '../settings/setting.ts'
import { nearestWord } from '../text/nearest-word.ts'
import { type Command, childrenOf, type Operand, operandsOf, wordOf } from './command.ts'
import { STANDARD } from './paths.ts'

/**
 * Finds the command that the first words name, undefined for the program itself, and the words after its
 * name. `isHelp`: the word `help` precedes the command.
 */
export function findCommand(commands: readonly Command[], argv: readonly string[]) {
  let row: Command | undefined
  let isHelp = false
  for (const [at, word] of argv.entries()) {
    const child = childrenOf(commands, row?.name ?? '').find((known) => wordOf(known) === word)
    const asks = word === 'help' && (row === undefined || hasCommands(commands, row))
    if (child === undefined && !asks) return { row, rest: argv.slice(at), isHelp }
    row = child ?? row
    isHelp ||= asks
  }
  return { row, rest: [], isHelp }
}

/** Whether the row has commands below it. */
export function hasCommands(commands: readonly Command[], { name }: Command): boolean {
  return childrenOf(commands, name).length > 0
}

/** Whether one of the flags occurs before `--`. */
export function hasFlag(words: readonly string[], ...names: string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end === -1 ? undefined : end).some((word) => names.includes(word))
}

/** The commands, and the one below which a word should name another. */
export type Among = { commands: readonly Command[]; group?: Command | undefined }

/** Returns the problem of an unknown command, with the most similar one. */
export function unknownCommand(word: string, { commands, group }: Among): string {
  const names = childrenOf(commands, group?.name ?? '').map(wordOf)
  const shown = group === undefined ? word : `${group.name} ${word}`
  return `unknown command ${JSON.stringify(shown)}${didYouMean(word, names) || ` (there are ${names.join(', ')})`}`
}

/**
 * Splits words into flags, by name, and arguments. `table` holds the flags of the command. `separated`: how
 * many of the arguments follow `--`.
 */
export function readFlags(rest: readonly string[], table: SettingsTable) {
  const known = Object.values(table).filter(({ variableOnly }) => !variableOnly)
  const raw: Record<string, string[]> = {}
  const words: string[] = []
  const problems: string[] = []
  let separated = 0
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? ''
    if (word === '--') {
      separated = rest.length - at - 1
      words.push(...rest.slice(at + 1))
      break
    }
    if (!isFlag(word)) {
      words.push(word)
      continue
    }
    // Do not quote the flag's value, which may be a secret.
    const [name = '', given] = splitFlag(word)
    const setting = known.find(({ flag }) => `--${flag}` === name)
    const takesNone = setting?.placeholder === ''
    const next = rest[at + 1]
    const follows = given === undefined && !takesNone && next !== undefined && !isFlag(next)
    // Skip the word after an unknown flag, which is most likely its value.
    if (follows) at += 1
    if (setting === undefined) problems.push(`unknown flag ${name}${didYouMean(name, flagsOf(known))}`)
    else if (takesNone && given !== undefined) problems.push(`${name} takes no value`)
    else {
      const value = takesNone ? 'true' : (given ?? (follows ? next : undefined) ?? setting.bare ?? '')
      raw[setting.flag] = [...(raw[setting.flag] ?? []), value]
    }
  }
  return { raw, words, separated, problems }
}

function isFlag(word: string): boolean {
  return word.startsWith('-') && word.length > 1
}

function splitFlag(word: string): [name: string, value?: string] {
  const at = word.indexOf('=')
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)]
}

function flagsOf(known: readonly { flag: string }[]): string[] {
  return [...known.map(({ flag }) => `--${flag}`), '--help']
}

type Words = Pick<ReturnType<typeof readFlags>, 'words' | 'separated' | 'problems'>

/** `isBare`: no command was named, so `serve` runs. */
type ArgumentsOptions = Words & { commands: readonly Command[]; isBare: boolean }

/** Parses the arguments of a command. */
export function readArguments(row: Command, options: ArgumentsOptions) {
  const { words, separated, problems, commands, isBare } = options
  const names = operandsOf(row)
  const hasRest = names.at(-1)?.isRest === true
  const wrong = [
    ...problems,
    ...(hasRest && words.length > separated ? [`put "--" before the ${names[0]?.label.toLowerCase()}`] : []),
    ...(hasRest ? [] : words.slice(names.length)).map((word, index) =>
      explainWord(word, { row, commands, isFirst: isBare && index === 0 }),
    ),
    ...(problems.length > 0 ? [] : names.slice(words.length))
      .filter(({ isNeeded }) => isNeeded)
      .map(({ label }) => `${label} is missing`),
  ]
  const taken = hasRest ? words : words.slice(0, names.length)
  const read = taken.map((text, index) => readOperand(names[index], text))
  return {
    operands: read.flatMap((one) => ('value' in one ? [one.value] : [])),
    isWordWrong: wrong.length > 0,
    problems: [...wrong, ...read.flatMap((one) => ('problem' in one ? [one.problem] : []))],
  }
}

type Surplus = { row: Command; commands: readonly Command[]; isFirst: boolean }

/** Explains a surplus argument, which may be a misspelled or misplaced command. */
function explainWord(word: string, { row, commands, isFirst }: Surplus): string {
  const names = childrenOf(commands, row.name === 'serve' ? '' : row.name).map(wordOf)
  if (names.includes(word)) return `the command ${word} comes before all flags`
  if (!isFirst) return `unexpected argument ${JSON.stringify(word)}`
  // Do not quote a secret link on the screen.
  if ((parseLinkOrToken(word)?.server ?? null) !== null)
    return 'a link comes after a command: oncebox get LINK'
  return unknownCommand(word, { commands })
}

/** Parsers of arguments by name. An argument without a parser may be any text. */
const OPERANDS: Record<string, (text: string) => Parsed<string>> = {
  EMAIL: (text) => {
    const value = parseEmail(text)
    return value === null ? { problem: 'must be an address such as ann@example.org' } : { value }
  },
  // Do not quote the text, which may be most of a secret link.
  'LINK-OR-TOKEN': (text) =>
    parseLinkOrToken(text) === null
      ? { problem: 'must be a link such as https://once.example/p/7k3m9q…, or its token', isSecret: true }
      : { value: text },
  'LINK-OR-TOKEN|-': (text) =>
    text === STANDARD ? { value: text } : (OPERANDS['LINK-OR-TOKEN']?.(text) ?? { value: text }),
  URL: serverUrl,
}

function readOperand(operand: Operand | undefined, text: string): { value: string } | { problem: string } {
  const { name = '', label = '', choices = [] } = operand ?? {}
  if (choices.length > 0)
    return choices.includes(text) ? { value: text } : { problem: `${JSON.stringify(text)}: must be ${label}` }
  const read = OPERANDS[name]?.(text) ?? { value: text }
  if ('value' in read) return read
  return { problem: `${label}${read.isSecret ? '' : ` ${JSON.stringify(text)}`}: ${read.problem}` }
}

/** Returns `: did you mean push?`, or `''` when no known word is similar. */
function didYouMean(word: string, known: readonly string[]): string {
  const near = nearestWord(word, known)
  return near === undefined ? '' : `: did you mean ${near}?`
}
