// The configuration of `oncebox mcp`, which a person writes: recipes, folders to share from, and recipients.

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { ageRecipient } from '../../domain/age-recipient.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { variableProblem } from '../exec/targets.ts'
import { CommandFailure } from '../failures.ts'
import type { SharedFolder } from './shared-file.ts'

const ORIGINS = ['request', 'handle', 'link'] as const

/** A command that may use a secret. `timeout` in seconds; `output`: how many bytes of it are returned. */
export type Recipe = {
  argv: readonly string[]
  secret: string
  from: readonly (typeof ORIGINS)[number][]
  timeout: number
  output: number
}

export type Configuration = {
  recipes: ReadonlyMap<string, Recipe>
  folders: readonly SharedFolder[]
  /** Public age keys by name. */
  recipients: ReadonlyMap<string, string>
}

const MAX_TIMEOUT = 3600
const MAX_OUTPUT = 16_384

/**
 * Reads the file. With `mayMiss`, a missing file is an empty configuration. Throws CommandFailure that names
 * the invalid member.
 */
export function readConfiguration(path: string, { mayMiss }: { mayMiss: boolean }): Configuration {
  if (mayMiss && lstatSync(path, { throwIfNoEntry: false }) === undefined) return parseConfiguration('{}')
  try {
    return parseConfiguration(readPrivate(path))
  } catch (cause) {
    const why = cause instanceof SyntaxError ? 'it is no JSON' : reasonOf(cause)
    throw new CommandFailure(`${JSON.stringify(path)}: ${why}.`)
  }
}

/** Throws if other users can read or write the file. */
function readPrivate(path: string): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    const found = fstatSync(file)
    const isOwn = found.uid === process.getuid?.() && (found.mode & 0o077) === 0
    if (!found.isFile() || !(isOwn || process.platform === 'win32'))
      refuse('it must be a file of yours that nobody else can access (chmod 600)')
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function parseConfiguration(text: string): Configuration {
  const { recipes = {}, folders = [], recipients = {}, ...others } = Object(JSON.parse(text))
  for (const name of Object.keys(others)) refuse(`unknown member ${JSON.stringify(name)}`)
  if (!isTexts(folders) || !folders.every(isAbsolute)) refuse('"folders" must be a list of absolute paths')
  return {
    recipes: new Map(Object.entries(recipes).map(([name, recipe]) => [name, parseRecipe(name, recipe)])),
    folders: folders.map((given: string) => ({ given, real: realPathOf(given) })),
    recipients: new Map(Object.entries(recipients).map(([name, key]) => [name, parseRecipient(name, key)])),
  }
}

function realPathOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch (cause) {
    return refuse(`folder ${JSON.stringify(folder)}: ${reasonOf(cause)}`)
  }
}

function parseRecipient(name: string, key: unknown): string {
  const parsed = ageRecipient(String(key))
  return 'value' in parsed ? parsed.value : refuse(`recipient ${JSON.stringify(name)} ${parsed.problem}`)
}

function parseRecipe(name: string, recipe: unknown): Recipe {
  const { argv, secret = 'stdin', from = ['request'], timeout = 60, output = 0, ...others } = Object(recipe)
  const [unknown] = Object.keys(others)
  const variable = String(secret).startsWith('env:') ? variableProblem(String(secret).slice(4)) : null
  const isWithin = (number: unknown, min: number, max: number) =>
    Number.isSafeInteger(number) && Number(number) >= min && Number(number) <= max
  const problem =
    (unknown !== undefined && `has an unknown member ${JSON.stringify(unknown)}`) ||
    ((!isTexts(argv) || argv.length === 0) && 'needs "argv", a list of words') ||
    (secret !== 'stdin' && !String(secret).startsWith('env:') && '"secret" must be "stdin" or "env:NAME"') ||
    variable ||
    ((!isTexts(from) || !from.every((one) => ORIGINS.includes(one as never))) &&
      `"from" may list ${ORIGINS.join(', ')}`) ||
    (!isWithin(timeout, 1, MAX_TIMEOUT) && `"timeout" must be 1 to ${MAX_TIMEOUT} seconds`) ||
    (!isWithin(output, 0, MAX_OUTPUT) && `"output" must be 0 to ${MAX_OUTPUT} bytes`)
  return problem
    ? refuse(`recipe ${JSON.stringify(name)}: ${problem}`)
    : { argv, secret, from, timeout, output }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function refuse(why: string): never {
  throw new Error(why)
}
