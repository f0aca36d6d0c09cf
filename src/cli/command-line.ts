// Reads the command line of one command: arguments, flags, settings and the files that they name. Reports all
// problems at once.

import { explainSystemError } from '../domain/system-errors.ts'
import { type EnvFile, parseEnvFile } from '../install/env-file.ts'
import { databaseWarnings } from '../settings/database.ts'
import { readConfig, readSettings, type SettingsResult, type Sources } from '../settings/fold.ts'
import { type GivenFlags, type SettingsTable, type Values, variableOf } from '../settings/setting.ts'
import { settings } from '../settings/table.ts'
import type { Command, CommandInput } from './command.ts'
import { CommandFailure, UsageError } from './failures.ts'
import type { Shell } from './shell.ts'
import { readArguments, readFlags } from './words.ts'

const DATABASE = { databaseUrl: settings.databaseUrl }

const SERVICE = { dataDir: settings.dataDir, databaseUrl: settings.databaseUrl }

export type CommandContext = Pick<CommandInput, 'shell' | 'app' | 'commands'>

/** `rest`: the words after the command's name. `isBare`: no command was named, so `serve` runs. */
export type CommandWords = { rest: readonly string[]; isBare: boolean }

/** Throws UsageError with all problems. */
export function readCommandLine(
  row: Command,
  { rest, isBare }: CommandWords,
  parts: CommandContext,
): CommandInput<Values<SettingsTable>, Values<SettingsTable>> {
  const read = readFlags(rest, flagsOf(row))
  const { raw } = read
  const { operands, problems, isWordWrong } = readArguments(row, {
    ...read,
    commands: parts.commands,
    isBare,
  })
  const shell = shellFor(row, { raw, operands }, parts.shell)
  const { os, readFile } = shell
  const sources = { flags: raw, os, readFile }
  requireFolder(row, sources)
  const own = readSettings(row.flags ?? {}, sources)
  const wanted = readWanted(row, sources)
  shell.warn(...wanted.warnings)
  const all = [...problems, ...rivals(row, raw), ...(own.problems ?? []), ...(wanted.problems ?? [])]
  const given = {
    operands,
    flags: own.config ?? {},
    config: wanted.config ?? {},
    entries: wanted.entries ?? [],
    ...parts,
    ...{ raw, shell },
  }
  // Checks for contradictions only if every single value is valid.
  if (all.length === 0)
    all.push(...(row.problems?.(given) ?? []).filter((problem) => typeof problem === 'string'))
  // After a misspelled command, point to the list of commands instead of the flags of serve.
  if (all.length > 0) throw new UsageError(all, isWordWrong && isBare ? 'oncebox' : `oncebox ${row.name}`)
  return given
}

const FORMAT = { logFormat: settings.logFormat }

/** Returns the flags as given, even if some are invalid. */
export function givenFlags(row: Command, rest: readonly string[]): GivenFlags {
  return readFlags(rest, flagsOf(row)).raw
}

/** Whether --log-format asks for JSON, even if other flags are invalid. */
export function wantsJson(row: Command, rest: readonly string[], shell: Shell): boolean {
  const raw = givenFlags(row, rest)
  try {
    const { os, readFile } = shellFor(row, { raw, operands: [] }, shell)
    return readSettings(FORMAT, { flags: raw, os, readFile }).config?.logFormat === 'json'
  } catch {
    // The file of settings is invalid. That failure is reported as plain text.
    return false
  }
}

/**
 * Returns the flags of a command. Commands on a data folder also accept --database-url, undocumented, to
 * explain what to do with PostgreSQL.
 */
function flagsOf({ settings, onlyFolder, flags }: Command): SettingsTable {
  return { ...settings, ...(onlyFolder === undefined ? {} : DATABASE), ...flags }
}

/** Returns the shell with the variables of --env-file or of the installed service. */
function shellFor(
  row: Command,
  { raw, operands }: Pick<CommandInput, 'raw' | 'operands'>,
  shell: Shell,
): Shell {
  const path = raw['env-file']?.at(-1)
  if (path !== undefined) {
    const name = `--env-file ${JSON.stringify(path)}`
    const { variables, problems } = readEnvFile(() => shell.readFile(path))
    if (problems.length > 0)
      throw new UsageError(
        problems.map((problem) => `${name}: ${problem}`),
        `oncebox ${row.name}`,
      )
    return withVariables(shell, variables)
  }
  const { isOnData = false } = row
  const isOurs = typeof isOnData === 'boolean' ? isOnData : isOnData(operands)
  return isOurs ? withService(shell, raw) : shell
}

function withVariables(shell: Shell, variables: Readonly<Record<string, string>>): Shell {
  return {
    ...shell,
    os: { ...shell.os, env: { ...variables, ...shell.os.env } },
  }
}

function readEnvFile(read: () => string): EnvFile {
  try {
    return parseEnvFile(read())
  } catch (cause) {
    const reason = explainSystemError(cause)
    const problem = `must name a readable file${reason === null ? '' : ` (${reason})`}`
    return { variables: {}, problems: [problem] }
  }
}

/**
 * Adds the variables of the installed service. Ignores the service if a flag or variable names a data folder
 * or a database, because the service's key file would not belong to it.
 */
function withService(shell: Shell, raw: GivenFlags): Shell {
  const { env } = shell.os
  const isNamed = Object.values(SERVICE).some((setting) => {
    const name = variableOf(setting)
    return raw[setting.flag] !== undefined || env[name] || env[`${name}_FILE`]
  })
  const service = isNamed ? null : shell.findService()
  if (service === null) return shell
  shell.say(
    `Using the settings of the installed service: ${service.envFile} (--data-dir names another folder)`,
  )
  return withVariables(shell, service.variables)
}

/**
 * Throws CommandFailure if the command is for a data folder, but a flag or variable names a PostgreSQL
 * database.
 */
function requireFolder({ onlyFolder }: Command, sources: Sources): void {
  if (onlyFolder === undefined) return
  const { entries = [] } = readSettings(DATABASE, sources)
  const from = entries.find(({ value }) => value !== null)?.from
  if (from === undefined) return
  const { does, instead } = onlyFolder
  throw new CommandFailure(
    `${does}, and the database is PostgreSQL here (${from}). ${instead} For a data folder, leave ${from} out.`,
  )
}

type WantedSettings = SettingsResult<SettingsTable> & { warnings: string[] }

function readWanted({ settings: table = {}, keepsSettings }: Command, sources: Sources): WantedSettings {
  if (table === settings && !keepsSettings) return readConfig(sources)
  const warnings = 'databaseUrl' in table ? databaseWarnings(sources.flags) : []
  return { ...readSettings(keepsSettings ? {} : table, sources), warnings }
}

function rivals({ oneOf = [], flags = {} }: Command, raw: GivenFlags): string[] {
  return oneOf.flatMap((keys) => {
    const names = keys.map((key) => flags[key]?.flag ?? key)
    if (names.filter((name) => raw[name] !== undefined).length < 2) return []
    const flagged = names.map((name) => `--${name}`)
    return [`${flagged.slice(0, -1).join(', ')} and ${flagged.at(-1)}: give only one of them`]
  })
}
