// Reads each setting from its flag, else the environment, else a file, else the default. Reports all problems
// at once.

import { explainSystemError } from '../domain/system-errors.ts'
import { nearestWord } from '../text/nearest-word.ts'
import { clientSecrets, clientSettings } from './client.ts'
import { contradictionsIn } from './contradictions.ts'
import { databaseWarnings } from './database.ts'
import type { Environment, OperatingSystem } from './parsers.ts'
import {
  type GivenFlags,
  NO_VALUE,
  type Setting,
  type SettingsTable,
  type Values,
  variableOf,
} from './setting.ts'
import { settings } from './table.ts'

export type Sources = {
  flags: GivenFlags
  os: OperatingSystem
  /** Throws when the file cannot be read. */
  readFile: (path: string) => string
  /** Whether --lan is on, which changes some defaults. */
  isLan?: boolean
}

/** A setting's value and where it came from: `default`, a flag or a variable. `text` is safe to show. */
export type SettingEntry = {
  setting: Setting
  from: string
  text: string
  value: unknown
}

export type SettingsResult<T extends SettingsTable> =
  | { problems: string[]; config?: undefined; entries?: undefined }
  | { problems?: undefined; config: Values<T>; entries: SettingEntry[] }

/** Reads all settings, for the server. Checks for contradictions only if every single value is valid. */
export function readConfig(sources: Sources): SettingsResult<typeof settings> & { warnings: string[] } {
  const { env } = sources.os
  const isLan = readSetting(settings.lan, sources).entry?.value === true
  const reading = readSettings(settings, { ...sources, isLan })
  const contradictions = reading.config === undefined ? [] : contradictionsIn(reading.config)
  const warnings = [
    ...unknownVariables({ ...settings, ...clientSettings, ...clientSecrets }, env),
    ...unusedFiles(settings, env),
    ...databaseWarnings(sources.flags),
  ]
  return contradictions.length > 0 ? { problems: contradictions, warnings } : { ...reading, warnings }
}

/** Reads the settings of one table. */
export function readSettings<T extends SettingsTable>(table: T, sources: Sources): SettingsResult<T> {
  const results = Object.entries(table).map(([key, setting]) => ({ key, ...readSetting(setting, sources) }))
  const problems = results.flatMap((result) => result.problems ?? [])
  if (problems.length > 0) return { problems }
  const values: unknown = Object.fromEntries(results.map(({ key, entry }) => [key, entry?.value]))
  // Safe cast: the values come from the table's own keys and parsers, which the type system cannot follow.
  return { config: values as Values<T>, entries: results.flatMap(({ entry }) => entry ?? []) }
}

/** Warns of unknown `ONCEBOX_` variables: misspelled settings, or variables that an orchestrator sets. */
export function unknownVariables(table: SettingsTable, env: Environment): string[] {
  const known = Object.values(table).flatMap((setting) => [
    variableOf(setting),
    ...(setting.file ? [`${variableOf(setting)}_FILE`] : []),
  ])
  return Object.keys(env)
    .filter((name) => PREFIX.test(name) && !known.includes(name))
    .sort()
    .map((name) => `${name} is not a setting of Oncebox and is ignored${didYouMean(name, known)}`)
}

/** Matches names in lower case too, which are misspelled as well. */
const PREFIX = /^ONCEBOX_/i

/** Compares the names without their common prefix. */
function didYouMean(name: string, known: readonly string[]): string {
  const bare = (variable: string) => variable.replace(PREFIX, '')
  const near = nearestWord(bare(name), known.map(bare))
  return near === undefined ? '' : `: did you mean ONCEBOX_${near}?`
}

/** Warns of `_FILE` variables that are ignored, because the variable with the value takes precedence. */
function unusedFiles(table: SettingsTable, env: Environment): string[] {
  return Object.values(table)
    .filter((setting) => setting.file)
    .map(variableOf)
    .filter((name) => env[name] && env[`${name}_FILE`])
    .map((name) => `${name}_FILE is not read, because ${name} is set as well`)
}

type SettingTexts = { from: string; texts: readonly string[] }

type SettingResult = { entry: SettingEntry; problems?: undefined } | { entry?: undefined; problems: string[] }

function readSetting(setting: Setting, sources: Sources): SettingResult {
  const found = findTexts(setting, sources)
  if ('problem' in found) return { problems: [found.problem] }
  const { from, texts } = found
  const parsed = texts.map((text) => ({ text, result: setting.parse(text, sources.os) }))
  const problems = parsed.flatMap(({ text, result }) =>
    'problem' in result ? [presentProblem(setting, { from, text, ...result })] : [],
  )
  if (problems.length > 0) return { problems }
  const values = parsed.flatMap(({ result }) => ('value' in result ? [result.value] : []))
  const value = setting.list ? values : (values[0] ?? null)
  const hidden = setting.secret && from !== 'default'
  const unset = setting.defaultWords === undefined ? 'none' : `(${setting.defaultWords})`
  const { show = (shown: string) => shown } = setting
  const text = hidden
    ? '(hidden)'
    : value === null
      ? texts.join() || unset
      : presentValue(value, texts.map(show))
  return { entry: { setting, from, value, text } }
}

function findTexts(setting: Setting, sources: Sources): SettingTexts | { problem: string } {
  const variable = variableOf(setting)
  const env = setting.flagOnly ? {} : sources.os.env
  const given = setting.variableOnly ? undefined : sources.flags[setting.flag]
  if (given !== undefined) return { from: `--${setting.flag}`, texts: splitList(setting, given) }
  if (env[variable]) return { from: variable, texts: splitList(setting, [env[variable]]) }
  const file = setting.file && env[`${variable}_FILE`]
  if (file) return readValueFile({ setting, from: `${variable}_FILE`, file, readFile: sources.readFile })
  const fallback = setting.fallback === undefined ? undefined : env[setting.fallback]
  if (setting.fallback !== undefined && fallback) return { from: setting.fallback, texts: [fallback] }
  if (sources.isLan && setting.lan !== undefined) return { from: '--lan', texts: [setting.lan] }
  const text = typeof setting.default === 'function' ? setting.default(sources.os) : setting.default
  return { from: 'default', texts: text === null ? [] : splitList(setting, [text]) }
}

/** Splits a list at commas. The last value of any other flag wins. */
function splitList(setting: Setting, texts: readonly string[]): readonly string[] {
  return setting.list ? texts.flatMap((text) => text.split(',')) : texts.slice(-1)
}

function readValueFile(named: {
  setting: Setting
  from: string
  file: string
  readFile: Sources['readFile']
}): SettingTexts | { problem: string } {
  const { setting, from, file, readFile } = named
  try {
    // Remove a newline at the end, which editors and secret stores add.
    return { from, texts: splitList(setting, [readFile(file).replace(/(?<![\r\n])[\r\n]+$/, '')]) }
  } catch (cause) {
    const words = explainSystemError(cause)
    const reason = words === null ? '' : ` (${words})`
    return { problem: `${from} ${JSON.stringify(file)}: must name a readable file${reason}` }
  }
}

type WrongValue = { from: string; text: string; problem: string; isSecret?: true }

function presentProblem(setting: Setting, { from, text, problem, isSecret }: WrongValue): string {
  if (text === '' || text === NO_VALUE) return `${from}: a value is missing, it ${problem}`
  return `${from} ${setting.secret || isSecret ? '(hidden)' : JSON.stringify(text)}: ${problem}`
}

/**
 * Shows numbers as they were typed (1MiB is easier to read than 1048576). Shows parsed objects as their
 * setting formats them.
 */
function presentValue(value: unknown, texts: readonly string[]): string {
  if (Array.isArray(value)) return value.join(', ') || 'none'
  return typeof value === 'number' || typeof value === 'object' ? texts.join().trim() : String(value)
}
