// One row of the table of settings, and the names, texts and types derived from it.

import { posix, win32 } from 'node:path'
import {
  duration,
  type OperatingSystem,
  oneOf,
  type Parser,
  path,
  size,
  truth,
  wholeNumber,
} from './parsers.ts'

/** Raw values by flag name, in the given order; `''` for a flag without a value. */
export type GivenFlags = Readonly<Record<string, readonly string[] | undefined>>

export type Setting = {
  flag: string
  /** Heading in the help and the README. */
  group: string
  /** Placeholder for the value in the help. */
  placeholder: string
  parse: Parser<unknown>
  /** The default as it would be typed; null for none. */
  default: string | null | ((os: OperatingSystem) => string)
  /** Describes the default when it depends on the operating system or is null. */
  defaultWords?: string
  /** The default with --lan, as a person would type it. */
  lan?: string
  /** The value of a flag that is given without one. If absent, the flag requires a value. */
  bare?: string
  /**
   * Whether the setting is a list: the flag may be repeated, the variable separates items by commas, and
   * `parse` reads one item.
   */
  list?: true
  /** `ONCEBOX_…_FILE` may name a file that contains the value. */
  file?: true
  /** Whether the value must never be shown. */
  secret?: true
  /** Formats a text that contains a secret for display, without the secret. */
  show?: (text: string) => string
  /** Has no flag, because other users of the machine can see a command's arguments. */
  variableOnly?: true
  /** A command's own flag, which no variable sets. */
  flagOnly?: true
  /** Its variable, if the name does not follow from the flag. */
  variable?: string
  /** A variable of other programs, read if the setting has no value of its own. */
  fallback?: string
  help: string
}

/** Columns that rows of the same kind of value share. */
export const on = { placeholder: 'true|false', parse: truth, bare: 'true', default: 'true' }
export const off = { ...on, default: 'false' }
export const file = { placeholder: 'file', parse: path, default: null }
export const folder = { ...file, placeholder: 'folder' }
export const sizes = (min: string, max: string) => ({ placeholder: 'size', parse: size(min, max) })
export const numbers = (min: string, max: string) => ({ placeholder: 'number', parse: wholeNumber(min, max) })
export const durations = (min: string, max: string) => ({
  placeholder: 'duration',
  parse: duration(min, max),
})

export function choices<const T extends string>(...texts: T[]) {
  return { placeholder: texts.join('|'), parse: oneOf(...texts) }
}

export type SettingsTable = Readonly<Record<string, Setting>>

type Row = Omit<Setting, 'flag' | 'group'> & { flag?: string }

type Section<Rows> = { readonly [K in keyof Rows]: Rows[K] & { flag: string; group: string } }

/**
 * Completes the rows below one heading. The flag is derived from the name in the configuration unless a row
 * states another.
 */
export function section<const Rows extends Record<string, Row>>(group: string, rows: Rows): Section<Rows> {
  const complete = Object.entries(rows).map(([name, row]) => [name, { flag: flagOf(name), group, ...row }])
  // Safe cast: the type system cannot follow the names.
  return Object.fromEntries(complete) as Section<Rows>
}

function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

type Item<S extends Setting> = S['parse'] extends Parser<infer T> ? T : never

type SettingValue<S extends Setting> = S extends { list: true }
  ? Item<S>[]
  : S['default'] extends null
    ? Item<S> | null
    : Item<S>

export type Values<T extends SettingsTable> = { [K in keyof T]: SettingValue<T[K]> }

/** Returns the environment variable of a setting, without the `_FILE` suffix. */
export function variableOf(setting: Setting): string {
  return setting.variable ?? `ONCEBOX_${setting.flag.toUpperCase().replaceAll('-', '_')}`
}

/** Represents the missing value of a flag. No system passes NUL in an argument. */
export const NO_VALUE = '\0'

/** Returns the flag of a setting; its variable if it has no flag. */
export function nameOf(setting: Setting): string {
  return setting.variableOnly ? variableOf(setting) : `--${setting.flag}`
}

/** Returns the default as the help and the README show it. */
export function defaultText(setting: Setting): string {
  return setting.defaultWords ?? (typeof setting.default === 'string' ? setting.default : 'none')
}

/** Returns the platform's folder for the data of a user's programs. */
export function defaultDataDir({ env, platform, home }: OperatingSystem): string {
  if (platform === 'win32') {
    return win32.join(env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local'), 'Oncebox')
  }
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'Oncebox')
  const dataHome = env.XDG_DATA_HOME ?? ''
  // The XDG specification says to ignore a relative path.
  return posix.join(posix.isAbsolute(dataHome) ? dataHome : posix.join(home, '.local', 'share'), 'oncebox')
}
