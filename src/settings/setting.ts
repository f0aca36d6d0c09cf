// One row of the table of settings, and what is derived from it.

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
  /** The text that a person would type; null for no default. */
  default: string | null | ((os: OperatingSystem) => string)
  /** Describes the default when it depends on the place or is null. */
  defaultWords?: string
  /** The default with --lan, as a person would type it. */
  lan?: string
  /** The value of the flag when given without one. If absent, the flag requires a value. */
  bare?: string
  /** The flag may repeat, and the variable is separated by commas; `parse` reads one item. */
  list?: true
  /** `ONCEBOX_…_FILE` may name a file that contains the value. */
  file?: true
  /** Never shown. */
  secret?: true
  /** What is shown in place of a text that holds a secret. */
  show?: (text: string) => string
  /** It has no flag, because other users of the machine can see a command's arguments. */
  variableOnly?: true
  /** A flag of one command alone, which no variable sets. */
  flagOnly?: true
  /** The variable of other programs that is read when nothing else names a value. */
  fallback?: string
  help: string
}

/** The columns that a kind of value has in common. */
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
 * Completes the rows below one heading. The flag is the name in the configuration, unless a row has another
 * one.
 */
export function section<const Rows extends Record<string, Row>>(group: string, rows: Rows): Section<Rows> {
  const complete = Object.entries(rows).map(([name, row]) => [name, { flag: flagOf(name), group, ...row }])
  // The type system cannot follow the names.
  return Object.fromEntries(complete) as Section<Rows>
}

function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

type Item<S extends Setting> = S['parse'] extends Parser<infer T> ? T : never

export type SettingValue<S extends Setting> = S extends { list: true }
  ? Item<S>[]
  : S['default'] extends null
    ? Item<S> | null
    : Item<S>

export type Values<T extends SettingsTable> = { [K in keyof T]: SettingValue<T[K]> }

/** The environment variable of a setting, without the `_FILE` suffix. */
export function variableOf(setting: Setting): string {
  return `ONCEBOX_${setting.flag.toUpperCase().replaceAll('-', '_')}`
}

/** Stands for the value of a flag that has none. No system passes NUL in an argument. */
export const NO_VALUE = '\0'

/** What a person calls it: its flag, or its variable when it has none. */
export function nameOf(setting: Setting): string {
  return setting.variableOnly ? variableOf(setting) : `--${setting.flag}`
}

/** The default as the help and the README show it. */
export function defaultText(setting: Setting): string {
  return setting.defaultWords ?? (typeof setting.default === 'string' ? setting.default : 'none')
}

/** The platform's folder for the data of a user's programs. */
export function defaultDataDir({ env, platform, home }: OperatingSystem): string {
  if (platform === 'win32') {
    return win32.join(env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local'), 'Oncebox')
  }
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'Oncebox')
  const dataHome = env.XDG_DATA_HOME ?? ''
  // The XDG specification says to ignore a relative path.
  return posix.join(posix.isAbsolute(dataHome) ? dataHome : posix.join(home, '.local', 'share'), 'oncebox')
}
