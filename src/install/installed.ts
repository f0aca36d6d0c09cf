// Finds the service that is installed on this machine, and the settings that it runs with.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Place } from '../settings/parsers.ts'
import { type EnvFile, parseEnvFile, type Variables } from './env-file.ts'
import { placesFor } from './places.ts'
import type { Scope } from './service-system.ts'

export type InstalledService = NonNullable<ReturnType<typeof findUnit>>

/** The folders in which systemd looks for units of the machine. The first unit that is found counts. */
const UNIT_FOLDERS = ['/etc', '/run', '/usr/local/lib', '/usr/lib', '/lib'].map(
  (path) => `${path}/systemd/system`,
)
const UNIT = 'oncebox.service'

/**
 * The service whose data this user may open: that of the machine for root or an administrator, else the user's own. Null
 * when there is none, or its settings may not be read.
 */
export function findService(place: Place): InstalledService | null {
  const isRoot = process.geteuid?.() === 0
  if (place.platform === 'win32') return findIn('machine', place) ?? findIn('user', place)
  return findIn(isRoot ? 'machine' : 'user', place)
}

/** Works for any user; one who is not root may not be able to read the settings. */
export function findIn(scope: Scope, place: Place): InstalledService | null {
  try {
    return place.platform === 'linux' ? findUnit(scope, place) : findDefinition(scope, place)
  } catch {
    return null
  }
}

function findDefinition(scope: Scope, place: Place): InstalledService | null {
  const { definition, envFile, dataDir, executable } = placesFor(scope, { place, self: '' })
  if (!existsSync(definition)) return null
  const { variables, problems } = readEnvFile(envFile)
  return {
    ...{ scope, definition, envFile, executable, problems },
    variables: { ONCEBOX_DATA_DIR: dataDir, ...variables },
  }
}

/**
 * `envFile` and `executable` are null where the unit names none; `variables` include the settings from flags in its command line;
 * `problems` is a sentence for each line of its files of settings that has no effect.
 */
function findUnit(scope: Scope, place: Place) {
  const { definition } = placesFor(scope, { place, self: '' })
  const paths = scope === 'user' ? [definition] : UNIT_FOLDERS.map((folder) => join(folder, UNIT))
  const path = paths.find((candidate) => existsSync(candidate))
  if (path === undefined) return null
  const dropIns = paths.flatMap((candidate) => listDropIns(`${candidate}.d`))
  dropIns.sort((one, other) => (basename(one) < basename(other) ? -1 : 1))
  const unit = parseUnit([path, ...dropIns].map((file) => readFileSync(file, 'utf8')).join('\n'), place.home)
  const envFiles = unit.envFiles.map(readEnvFile)
  const fromFiles: Variables = Object.assign({}, ...envFiles.map(({ variables }) => variables))
  return {
    scope,
    definition: path,
    envFile: unit.envFiles.at(-1)?.replace(/^-/, '') ?? null,
    executable: unit.executable,
    variables: { ...unit.variables, ...fromFiles, ...unit.flags },
    problems: envFiles.flatMap(({ problems }) => problems),
  }
}

function listDropIns(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => (name.endsWith('.conf') ? [join(folder, name)] : []))
}

/** A minus before the path allows the file to be missing. */
function readEnvFile(path: string): EnvFile {
  const isOptional = path.startsWith('-')
  const file = path.replace(/^-/, '')
  const text = isOptional && !existsSync(file) ? '' : readFileSync(file, 'utf8')
  const { variables, problems } = parseEnvFile(text)
  return { variables, problems: problems.map((problem) => `${file}: ${problem}`) }
}

export type Unit = {
  executable: string | null
  envFiles: string[]
  variables: Record<string, string>
  /** Flags of the command line that tell where the data is, as variables. */
  flags: Record<string, string>
}

/** Parses a unit with its drop-ins, in the order in which systemd reads them. An empty value resets a list. */
export function parseUnit(text: string, home: string): Unit {
  const unit: Unit = { executable: null, envFiles: [], variables: {}, flags: {} }
  const whole = text.replace(/^[ \t]*[#;].*$/gm, '').replace(/\\\n/g, ' ')
  for (const [, key, value = ''] of whole.matchAll(/^[ \t]*(\w+)[ \t]*=[ \t]*(.*?)[ \t]*$/gm)) {
    const words = splitWords(value, home)
    const isReset = value === ''
    if (key === 'Environment')
      unit.variables = isReset ? {} : { ...unit.variables, ...Object.fromEntries(words.map(splitAt)) }
    if (key === 'EnvironmentFile') unit.envFiles = isReset ? [] : [...unit.envFiles, expand(value, home)]
    if (key !== 'ExecStart') continue
    const [executable = null, ...args] = words
    // A prefix such as "-" or "+" changes how systemd runs the command.
    unit.executable = executable?.replace(/^[-@:+!|]+/, '') ?? null
    unit.flags = flagsIn(args)
  }
  return unit
}

const PLACE_FLAGS = ['data-dir', 'key-file', 'tls-authority-key']

function flagsIn(args: string[]): Record<string, string> {
  const options = Object.fromEntries(PLACE_FLAGS.map((flag) => [flag, { type: 'string' as const }]))
  const { values } = parseArgs({ args, options, strict: false })
  const found = PLACE_FLAGS.flatMap((flag) => {
    const value = values[flag]
    return typeof value === 'string' ? [[`ONCEBOX_${flag.toUpperCase().replaceAll('-', '_')}`, value]] : []
  })
  return Object.fromEntries(found)
}

function splitAt(word: string): [string, string] {
  const [name = '', ...rest] = word.split('=')
  return [name, rest.join('=')]
}

const PART = /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)|([^\s"'\\]+)/g

/** Words may be quoted in part. */
function splitWords(text: string, home: string): string[] {
  const words = text.match(new RegExp(`(?:${PART.source})+`, 'g')) ?? []
  const plain = (_: string, double?: string, single?: string, one?: string, bare?: string) =>
    double?.replace(/\\(.)/g, '$1') ?? single ?? one ?? bare ?? ''
  return words.map((word) => expand(word.replace(PART, plain), home))
}

function expand(text: string, home: string): string {
  return text.replace(/%([%h])/g, (_, what: string) => (what === 'h' ? home : '%'))
}
