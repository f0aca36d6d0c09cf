// Finds the service that is installed on this machine, and the settings that it runs with.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Place } from '../settings/parsers.ts'
import { type EnvFile, parseEnvFile, type Variables } from './env-file.ts'
import { placesFor } from './places.ts'
import type { Scope } from './service-system.ts'

export type InstalledService = {
  scope: Scope
  /** Unit, property list or task description. */
  definition: string
  /** Null when the definition names none. */
  envFile: string | null
  /** The executable that it starts; null where the definition does not say. */
  executable: string | null
  /** Its settings, including those from flags in its command line. */
  variables: Variables
  /** A sentence for each line of its files of settings that has no effect. */
  problems: string[]
}

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

function findUnit(scope: Scope, place: Place): InstalledService | null {
  const { definition } = placesFor(scope, { place, self: '' })
  const paths = scope === 'user' ? [definition] : UNIT_FOLDERS.map((folder) => join(folder, UNIT))
  const path = paths.find((candidate) => existsSync(candidate))
  if (path === undefined) return null
  const dropIns = paths.flatMap((candidate) => listDropIns(`${candidate}.d`))
  dropIns.sort((one, other) => (basename(one) < basename(other) ? -1 : 1))
  const unit = parseUnit([path, ...dropIns].map((file) => readFileSync(file, 'utf8')).join('\n'), place.home)
  const envFiles = unit.envFiles.map(readEnvFile)
  const fromFiles = Object.assign({}, ...envFiles.map(({ variables }) => variables))
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
  const lines = text
    .replace(/^[ \t]*[#;].*$/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
  const unit = {
    executable: null as string | null,
    envFiles: [] as string[],
    environment: [] as string[],
    command: [] as string[],
  }
  for (const line of lines) {
    const [, key = '', value = ''] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    const words = splitWords(value, home)
    if (key === 'ExecStart') unit.command = words
    else if (key === 'Environment') unit.environment = value === '' ? [] : [...unit.environment, ...words]
    else if (key === 'EnvironmentFile')
      unit.envFiles = value === '' ? [] : [...unit.envFiles, expand(value, home)]
  }
  const [executable = null, ...rest] = unit.command
  const variables = Object.fromEntries(unit.environment.map((word) => splitAt(word)))
  // A prefix such as "-" or "+" changes how systemd runs the command.
  return {
    executable: executable?.replace(/^[-@:+!|]+/, '') ?? null,
    envFiles: unit.envFiles,
    variables,
    flags: flagsIn(rest),
  }
}

const PLACE_FLAGS = ['data-dir', 'key-file', 'tls-authority-key']

function flagsIn(words: readonly string[]): Record<string, string> {
  const found = PLACE_FLAGS.flatMap((flag) => {
    const index = words.findLastIndex((word) => word === `--${flag}` || word.startsWith(`--${flag}=`))
    const word = words[index]
    if (word === undefined) return []
    const value = word.includes('=') ? splitAt(word)[1] : (words[index + 1] ?? '')
    return [[`ONCEBOX_${flag.toUpperCase().replaceAll('-', '_')}`, value]]
  })
  return Object.fromEntries(found)
}

function splitAt(word: string): [string, string] {
  const index = word.indexOf('=')
  return index === -1 ? [word, ''] : [word.slice(0, index), word.slice(index + 1)]
}

const WORD = /(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g

function splitWords(text: string, home: string): string[] {
  const words = text.match(WORD) ?? []
  return words.map((word) =>
    expand(
      word.replace(
        /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g,
        (_, double?: string, single?: string, one?: string) =>
          double === undefined ? (single ?? one ?? '') : double.replace(/\\(.)/g, '$1'),
      ),
      home,
    ),
  )
}

function expand(text: string, home: string): string {
  return text.replace(/%([%h])/g, (_, what: string) => (what === 'h' ? home : '%'))
}
