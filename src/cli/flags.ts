// Flags and arguments as commander parses them, kept as raw text so that every problem can be told at once.

import { type Command, Option } from 'commander'
import type { GivenFlags } from '../settings/fold.ts'
import { defaultText, type Setting, type Table, variableOf } from '../settings/setting.ts'
import { didYouMean } from './suggestions.ts'

/** A flag for each setting of the table, documented from it. */
export function addSettingFlags(command: Command, table: Table): void {
  for (const setting of Object.values(table)) {
    const { flag, placeholder, bare, group } = setting
    const value = bare === undefined ? `<${placeholder}>` : `[${placeholder}]`
    const option = rawOption(`--${flag} ${value}`, describe(setting)).preset(bare ?? '')
    command.addOption(option.helpGroup(`${group}:`))
  }
}

/** A flag with a value that is no setting. */
export function addTextFlag(command: Command, flags: string, help: string): void {
  command.addOption(rawOption(flags, help))
}

/** The last value given for a flag of `addTextFlag`; `''` when the value was missing. */
export function textFlag(command: Command, name: string): string | undefined {
  return rawValues(command, name)?.at(-1)
}

/** Every value given for a flag of `addTextFlag`. */
export function textFlags(command: Command, name: string): string[] {
  return rawValues(command, name) ?? []
}

export function givenFlags(command: Command, table: Table): GivenFlags {
  return Object.fromEntries(Object.values(table).map(({ flag }) => [flag, rawValues(command, flag)]))
}

export type Expected = {
  names: readonly string[]
  /** How many of the last ones may be missing. */
  optional?: number
  /** What is wrong with a word too many. */
  explainWord?: (word: string) => string
}

export type Operands = { operands: string[]; problems: string[] }

/** Sorts what commander left over into the arguments a command names and everything it does not know. */
export function readOperands(
  command: Command,
  { names, optional = 0, explainWord = unexpectedArgument }: Expected,
): Operands {
  const isFlag = (text = '') => text.startsWith('-') && text.length > 1
  const { before: args, literal } = splitLiteral(command)
  const flags = args.filter((text) => isFlag(text))
  // The word after an unknown flag is most likely its value.
  const plain = args.filter((text, index) => {
    const before = args[index - 1]
    return !isFlag(text) && !(isFlag(before) && !before?.includes('='))
  })
  const words = [...plain, ...literal]
  const missing = flags.length > 0 ? [] : names.slice(words.length, names.length - optional)
  const problems = [
    // A value is cut off: it may be a secret.
    ...flags.map((text) => unknownFlag(text.split('=')[0] ?? '', command)),
    ...words.slice(names.length).map((word) => explainWord(word)),
    ...missing.map((name) => `${name} is missing`),
  ]
  return { operands: words.slice(0, names.length), problems }
}

function unknownFlag(flag: string, command: Command): string {
  const known = [...command.options.flatMap(({ long }) => long ?? []), '--help']
  return `unknown flag ${flag}${didYouMean(flag, known)}`
}

/** What follows `--` is no flag, whatever it looks like; commander forgets where that was. */
function splitLiteral(command: Command): { before: string[]; literal: string[] } {
  const argv = rootOf(command).rawArgs
  const at = argv.indexOf('--')
  const literal = at === -1 ? [] : argv.slice(at + 1)
  const before = command.args.filter((text) => text !== '--')
  for (const text of literal) before.splice(before.lastIndexOf(text), 1)
  return { before, literal }
}

function rootOf(command: Command): Command & { rawArgs: string[] } {
  const root = command.parent === null ? command : rootOf(command.parent)
  return root as Command & { rawArgs: string[] }
}

export function unexpectedArgument(word: string): string {
  return `unexpected argument ${JSON.stringify(word)}`
}

function describe(setting: Setting): string {
  const variable = variableOf(setting)
  const from = setting.file ? `${variable} or ${variable}_FILE` : variable
  return `${setting.help}.\nDefault: ${defaultText(setting)}. Environment: ${from}`
}

function rawOption(flags: string, help: string): Option {
  const option = new Option(flags, help)
    .preset('')
    .argParser((text: string, before: string[] | undefined) => [...(before ?? []), text])
  // Commander would stop at the first missing value, and take "--host" for the value of a bare "--port".
  option.required = false
  option.optional = true
  return option
}

function rawValues(command: Command, name: string): string[] | undefined {
  const option = command.options.find(({ long }) => long === `--${name}`)
  return option && command.getOptionValue(option.attributeName())
}
