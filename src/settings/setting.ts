// One row of the table of settings: what it says, and what follows from it.

import { posix, win32 } from 'node:path'
import type { Parser, Place } from './parsers.ts'

export type Setting = {
  flag: string
  /** Heading in help and README. */
  group: string
  /** Stands for the value in help. */
  placeholder: string
  parse: Parser<unknown>
  /** As a person would type it; null: nothing. */
  default: string | null | ((place: Place) => string)
  /** The default in words, where it depends on the place or is null. */
  defaultWords?: string
  /** What the flag means without a value; without this, a value is required. */
  bare?: string
  /** The flag repeats and the variable is separated by commas; `parse` reads one item. */
  list?: true
  /** `ONCEBOX_…_FILE` names a file that holds the value. */
  file?: true
  /** Never shown. */
  secret?: true
  help: string
}

export type Table = Readonly<Record<string, Setting>>

type Item<S extends Setting> = S['parse'] extends Parser<infer T> ? T : never

export type Value<S extends Setting> = S extends { list: true }
  ? Item<S>[]
  : S['default'] extends null
    ? Item<S> | null
    : Item<S>

export type Values<T extends Table> = { [K in keyof T]: Value<T[K]> }

/** The variable of a setting; its file, where one is read, has `_FILE` after it. */
export function variableOf(setting: Setting): string {
  return `ONCEBOX_${setting.flag.toUpperCase().replaceAll('-', '_')}`
}

/** The default as help and README show it. */
export function defaultText(setting: Setting): string {
  return setting.defaultWords ?? (typeof setting.default === 'string' ? setting.default : 'none')
}

/** The folder where a person's programs keep their data, as each platform has it. */
export function defaultDataDir({ env, platform, home }: Place): string {
  if (platform === 'win32') {
    return win32.join(env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local'), 'Oncebox')
  }
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'Oncebox')
  const dataHome = env.XDG_DATA_HOME ?? ''
  // The XDG specification tells to ignore a relative one.
  return posix.join(posix.isAbsolute(dataHome) ? dataHome : posix.join(home, '.local', 'share'), 'oncebox')
}
