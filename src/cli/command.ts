// What the table says of a command: its words, its flags and settings, and the action, which is loaded when
// the command runs.

import type { SettingEntry } from '../settings/fold.ts'
import type { Parser } from '../settings/parsers.ts'
import { type GivenFlags, off, type Setting, type SettingsTable, type Values } from '../settings/setting.ts'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { anyPath } from './paths.ts'
import type { Shell } from './shell.ts'

/** What an action gets: the command line, read and checked. */
export type CommandInput<F = unknown, C = unknown> = {
  operands: readonly string[]
  flags: F
  config: C
  entries: readonly SettingEntry[]
  /** Flags as they were given, by name. */
  raw: GivenFlags
  shell: Shell
  app: App
  /** The whole table, for completion. */
  commands: readonly Command[]
}

export type Command<F extends SettingsTable = SettingsTable, S extends SettingsTable = SettingsTable> = {
  /** With its group: `user add`. */
  name: string
  /** As in the help: `EMAIL NAME-OR-PREFIX`, `[FILE]`; in lower case the words that it may be: `bash|zsh`. */
  operands?: string
  /** Heading in the list of commands. */
  heading?: string
  /** The command's own flags. */
  flags?: F
  /**
   * Settings that it reads from flags, variables and files. The table of all of them is read as `serve` does.
   */
  settings?: S
  /** The group of settings that its help shows, where it takes all that `serve` takes. */
  helpedGroup?: string
  /** Only handed on as they were given, for a service that reads them later. */
  keepsSettings?: true
  /**
   * Whether the settings of an installed service count, unless the command line names a folder or a database.
   */
  isOnData?: boolean | ((operands: readonly string[]) => boolean)
  /** Tells its failures as lines of JSON when --log-format asks for it. */
  isServer?: true
  /** For a data folder: what it does with one, and what to do with PostgreSQL instead. */
  onlyFolder?: { does: string; instead: string }
  /** Flags of which only one may be given. */
  oneOf?: readonly (keyof F & string)[][]
  /** Problems that no single value has; what is no text is none. */
  problems?(given: CommandInput<Values<F>, Values<S>>): (string | false | null)[]
  /** A group of commands has none. */
  act?(given: CommandInput<Values<F>, Values<S>>): Promise<void> | void
}

/** Infers the types of flags and settings for the action. */
export function command<F extends SettingsTable, S extends SettingsTable>(row: Command<F, S>): Command {
  return row
}

/** Whether others stand below it, and it does nothing itself. */
export function isGroup({ act }: Command): boolean {
  return act === undefined
}

/** The commands right below `name`, which is empty for the program. */
export function childrenOf(commands: readonly Command[], name: string): Command[] {
  return commands.filter((row) => row.name.split(' ').slice(0, -1).join(' ') === name)
}

/** The last word of its name. */
export function wordOf({ name }: Command): string {
  return name.split(' ').at(-1) ?? ''
}

export type Operand = {
  name: string
  /** What it is called in problems. */
  label: string
  isNeeded: boolean
  /** The words that it may be; none when it may be others. */
  choices: string[]
}

export function operandsOf({ operands = '' }: Command): Operand[] {
  return operands.split(' ').flatMap((word) => {
    const name = word.replace(/^\[(.*)\]$/, '$1')
    const choices = /^[a-z|]+$/.test(name) ? name.split('|') : []
    const label = choices.length === 0 ? name.replace(/\|-$/, '') : `one of ${choices.join(', ')}`
    return word === '' ? [] : [{ name, label, isNeeded: name === word, choices }]
  })
}

/** The settings that have a flag. */
export function shownSettings(row: Pick<Command, 'settings'> | undefined): Setting[] {
  return Object.values<Setting>(row?.settings ?? {}).filter(({ variableOnly }) => !variableOnly)
}

/** Rows of the table of settings, by their keys. */
export function some<K extends keyof typeof settings>(...keys: K[]): Pick<typeof settings, K> {
  // The entries come from the table's own keys, which the type system cannot follow.
  return Object.fromEntries(keys.map((key) => [key, settings[key]])) as Pick<typeof settings, K>
}

/** What it does is told in the manual. */
const OWN = { group: '', flagOnly: true, help: '' } as const

/** A flag without a value. */
export function toggle<const N extends string>(flag: N) {
  return { ...off, ...OWN, flag, placeholder: '' }
}

/** A flag with a value; the last one counts. Null when it is not given. */
export function valued<T>(words: `${string} <${string}>`, parse: Parser<T>) {
  const [flag = '', placeholder = ''] = words.split(/ <|>$/)
  return { ...OWN, flag, placeholder, parse, default: null }
}

/** A flag that may be repeated. */
export function repeated<T>(words: `${string} <${string}>`, parse: Parser<T>) {
  return { ...valued(words, parse), list: true } as const
}

/** Of every command that works on a data folder: the settings of a service, for one and by hand. */
export const envFile = {
  ...valued('env-file <file>', anyPath),
  help: 'File of settings as variables, a line each, such as ONCEBOX_PORT=8080; variables that are set win',
}
