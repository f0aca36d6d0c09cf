// One row of the table of commands: name, arguments, flags, settings, and the action, which loads its code
// when it runs.

import type { SettingEntry } from '../settings/fold.ts'
import type { Parser } from '../settings/parsers.ts'
import { type GivenFlags, off, type Setting, type SettingsTable, type Values } from '../settings/setting.ts'
import { settings } from '../settings/table.ts'
import type { App } from './app.ts'
import { anyPath } from './paths.ts'
import type { Shell } from './shell.ts'

/** The input of an action: the command line, parsed and checked. */
export type CommandInput<F = unknown, C = unknown> = {
  operands: readonly string[]
  flags: F
  config: C
  entries: readonly SettingEntry[]
  /** The flags as given, by name, before they are parsed. */
  raw: GivenFlags
  shell: Shell
  app: App
  /** The table of commands, for completion. */
  commands: readonly Command[]
}

export type Command<F extends SettingsTable = SettingsTable, S extends SettingsTable = SettingsTable> = {
  /** The full name, with its group: `user add`. */
  name: string
  /**
   * The arguments as the help shows them: `EMAIL NAME-OR-PREFIX`, `[FILE]`. Lower case means a choice,
   * `bash|zsh`. `[ARG…]` means any number of words, of which the first must follow `--`.
   */
  operands?: string
  /** Heading in the list of commands. */
  heading?: string
  /** The flags of this command only. */
  flags?: F
  /**
   * The settings that the command reads from flags, variables and files. If it has the full table,
   * contradictions are checked, as for `serve`.
   */
  settings?: S
  /** The only group of settings to show in its help, for a command that accepts all settings of `serve`. */
  helpedGroup?: string
  /** Passes the settings on unread: the service reads them when it starts. */
  keepsSettings?: true
  /**
   * Whether to use the settings of an installed service, unless the command line names a folder or a
   * database.
   */
  isOnData?: boolean | ((operands: readonly string[]) => boolean)
  /**
   * Maps a failure before the action, such as an invalid flag, to another error. For commands with their own
   * exit codes.
   */
  refuse?(cause: unknown, given: Pick<CommandInput, 'raw' | 'shell'>): Promise<Error>
  /** Prints failures as lines of JSON if --log-format asks for it. */
  isServer?: true
  /** Set for a command that needs a data folder: its purpose, and the remedy for users of PostgreSQL. */
  onlyFolder?: { does: string; instead: string }
  /** Groups of flags that exclude each other. */
  oneOf?: readonly (keyof F & string)[][]
  /** Returns the problems between several values. Entries that are not text are ignored. */
  problems?(given: CommandInput<Values<F>, Values<S>>): (string | false | null)[]
  /** The action. A group of commands has none. */
  act?(given: CommandInput<Values<F>, Values<S>>): Promise<void> | void
}

/**
 * Defines a command, so that the types of its flags and settings are inferred for the action. Adds --env-file
 * if it works on a data folder or a database, unless its service has a settings file of its own.
 */
export function command<F extends SettingsTable, S extends SettingsTable>(row: Command<F, S>): Command {
  const isOnData = row.isOnData !== undefined || 'dataDir' in (row.settings ?? {})
  return isOnData && !row.keepsSettings ? { ...row, flags: { ...row.flags, envFile } } : row
}

/** Whether the row is a group of commands, which has no action itself. */
export function isGroup({ act }: Command): boolean {
  return act === undefined
}

/** Returns the commands directly below `name`, which is empty for the program. */
export function childrenOf(commands: readonly Command[], name: string): Command[] {
  return commands.filter((row) => row.name.split(' ').slice(0, -1).join(' ') === name)
}

/** Returns the last word of a command's name. */
export function wordOf({ name }: Command): string {
  return name.split(' ').at(-1) ?? ''
}

export type Operand = {
  name: string
  /** Names the value in error messages. */
  label: string
  isNeeded: boolean
  /** Whether the argument accepts any number of words. */
  isRest: boolean
  /** The allowed words; if empty, any text is allowed. */
  choices: string[]
}

export function operandsOf({ operands = '' }: Command): Operand[] {
  return operands.split(' ').flatMap((word) => {
    const name = word.replace(/^\[(.*)\]$/, '$1')
    const choices = /^[a-z|]+$/.test(name) ? name.split('|') : []
    const label = choices.length === 0 ? name.replace(/\|-$/, '') : `one of ${choices.join(', ')}`
    return word === '' ? [] : [{ name, label, isNeeded: name === word, isRest: name.endsWith('…'), choices }]
  })
}

/** Returns the settings that have a flag. */
export function shownSettings(row: Pick<Command, 'settings'> | undefined): Setting[] {
  return Object.values<Setting>(row?.settings ?? {}).filter(({ variableOnly }) => !variableOnly)
}

/** Picks rows of the table of settings by their keys. */
export function some<K extends keyof typeof settings>(...keys: K[]): Pick<typeof settings, K> {
  // Safe cast: the keys are the table's own, which the type system cannot follow.
  return Object.fromEntries(keys.map((key) => [key, settings[key]])) as Pick<typeof settings, K>
}

/** Columns of a command's own flag. Its help is in manual.txt. */
const OWN = { group: '', flagOnly: true, help: '' } as const

/** Defines a flag without a value. */
export function toggle<const N extends string>(flag: N) {
  return { ...off, ...OWN, flag, placeholder: '' }
}

/** Defines a flag with a value; null if it is not given. If it is repeated, the last value wins. */
export function valued<T>(words: `${string} <${string}>`, parse: Parser<T>) {
  const [flag = '', placeholder = ''] = words.split(/ <|>$/)
  return { ...OWN, flag, placeholder, parse, default: null }
}

/** Defines a flag that may be repeated. */
export function repeated<T>(words: `${string} <${string}>`, parse: Parser<T>) {
  return { ...valued(words, parse), list: true } as const
}

/** The flag --env-file of every command on a data folder, to run it with the settings of a service. */
const envFile = {
  ...valued('env-file <file>', anyPath),
  help: 'File of settings as variables, a line each, such as ONCEBOX_PORT=8080; variables that are set win',
}
