// Flags and arguments from commander, kept as raw text so that all problems are reported at once.

import { type Command, Option } from 'commander'
import type { GivenFlags } from '../settings/setting.ts'
import { defaultText, type Setting, type Table, variableOf } from '../settings/setting.ts'
import { didYouMean } from './suggestions.ts'

/** Stands for the value of a flag that has none. No system passes NUL in an argument. */
const NO_VALUE = '\0'

/** Lets a command read flags of settings that it refuses, so that it can say what to do instead. */
export function addHiddenFlags(command: Command, table: Table): void {
  for (const { flag } of Object.values(table))
    command.addOption(rawOption(`--${flag} <value>`, '').preset('').hideHelp())
}

/** Adds a flag for each setting of the table, with its help. */
export function addSettingFlags(command: Command, table: Table): void {
  for (const setting of Object.values(table)) {
    const { flag, placeholder, bare, group, variableOnly } = setting
    if (variableOnly) continue
    const value = bare === undefined ? `<${placeholder}>` : `[${placeholder}]`
    const option = rawOption(`--${flag} ${value}`, describe(setting)).preset(bare ?? '')
    command.addOption(option.helpGroup(`${group}:`))
  }
  const variables = Object.values(table).filter(({ variableOnly }) => variableOnly)
  if (variables.length > 0) command.addHelpText('after', describeVariables(variables))
}

function describeVariables(settings: readonly Setting[]): string {
  const lines = settings.map((setting) => `  ${variablesOf(setting)}\n    ${setting.help}`)
  return `\nVariables without a flag:\n${lines.join('\n')}`
}

/** Adds a flag with a value that is not a setting. */
export function addTextFlag(command: Command, flags: string, help: string): void {
  command.addOption(rawOption(flags, help).preset(NO_VALUE))
}

/** The last value of a flag of `addTextFlag`; `''` when the value is missing. */
export function textFlag(command: Command, name: string): string | undefined {
  return rawValues(command, name)?.at(-1)
}

/** All values of a flag of `addTextFlag`. */
export function textFlags(command: Command, name: string): string[] {
  return rawValues(command, name) ?? []
}

/** Whether the last flag of this name has no value: true for `--name`, false for `--name ""`. */
export function lacksValue(command: Command, name: string): boolean {
  return keptValues(command, name)?.at(-1) === NO_VALUE
}

/** Whether an option without a value was given, by its name in camelCase. */
export function isGiven(command: Command, option: string): boolean {
  return command.getOptionValue(option) === true
}

export function givenFlags(command: Command, table: Table): GivenFlags {
  return Object.fromEntries(Object.values(table).map(({ flag }) => [flag, rawValues(command, flag)]))
}

export type Expected = {
  names: readonly string[]
  /** How many arguments at the end are optional. */
  optional?: number
  /** The problem with an extra word. */
  explainWord?: (word: string) => string
}

export type Operands = { operands: string[]; problems: string[] }

/** Splits the words that commander did not parse into the command's arguments and problems. */
export function readOperands(
  command: Command,
  { names, optional = 0, explainWord = unexpectedArgument }: Expected,
): Operands {
  const isFlag = (text = '') => text.startsWith('-') && text.length > 1
  const { before: args, literal } = splitLiteral(command)
  const flags = args.filter((text) => isFlag(text))
  // Skip the word after an unknown flag, which is most likely its value.
  const plain = args.filter((text, index) => {
    const before = args[index - 1]
    return !isFlag(text) && !(isFlag(before) && !before?.includes('='))
  })
  const words = [...plain, ...literal]
  const missing = flags.length > 0 ? [] : names.slice(words.length, names.length - optional)
  const problems = [
    ...strayFlags(command).map((flag) => unknownFlag(flag, command)),
    // Do not repeat the flag's value, which may be a secret.
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

/** Flags of the group that this command belongs to. Commander accepts them in any position. */
function strayFlags({ parent, options }: Command): string[] {
  const isOwn = (long: string) => options.some((option) => option.long === long)
  const given = parent?.options.filter(
    (option) => parent.getOptionValueSource(option.attributeName()) === 'cli',
  )
  return given?.flatMap(({ long }) => (long === undefined || isOwn(long) ? [] : [long])) ?? []
}

/** Words after `--` are never flags. Commander does not keep the position of `--`. */
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
  return `${setting.help}.\nDefault: ${defaultText(setting)}. Environment: ${variablesOf(setting)}`
}

function variablesOf(setting: Setting): string {
  const variable = variableOf(setting)
  return setting.file ? `${variable} or ${variable}_FILE` : variable
}

function rawOption(flags: string, help: string): Option {
  const option = new Option(flags, help).argParser((text: string, before: string[] | undefined) => [
    ...(before ?? []),
    text,
  ])
  // Otherwise commander stops at the first missing value, and takes "--host" as the value of a bare "--port".
  option.required = false
  option.optional = true
  // Commander would make --no-open the negation of a flag --open, which does not exist.
  option.negate = false
  return option
}

function rawValues(command: Command, name: string): string[] | undefined {
  return keptValues(command, name)?.map((value) => (value === NO_VALUE ? '' : value))
}

function keptValues(command: Command, name: string): string[] | undefined {
  const option = command.options.find(({ long }) => long === `--${name}`)
  if (option === undefined) return undefined
  const attribute = option.attributeName()
  // Commander gives the value to the group that the command belongs to, when that knows the flag as well.
  return command.getOptionValue(attribute) ?? command.parent?.getOptionValue(attribute)
}
