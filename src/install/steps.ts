// The steps of an installation: printed by --dry-run, or run one after another. Each step is idempotent.

import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { conflict } from '../domain/errors.ts'
import { codeOf, messageOf } from '../domain/system-errors.ts'

const execute = promisify(execFile)

export type InstallStep =
  | { do: 'copy'; from: string; to: string; mode: number; group?: never }
  | { do: 'write'; path: string; mode: number; text: string; group?: string; encoding?: 'utf16le' }
  | { do: 'folder'; path: string; mode: number; owner?: string; group?: string }
  | { do: 'remove'; path: string }
  | { do: 'run'; command: readonly string[]; onlyIf?: 'changed'; mayFail?: true }

/** Returns the lines that --dry-run prints: whole files, and commands as one would type them. */
export function presentStep(step: InstallStep): string[] {
  if (step.do === 'copy') return [`copy ${step.from} to ${step.to} (${octal(step.mode)})`]
  if (step.do === 'folder') return [`make the folder ${step.path} (${octal(step.mode)}${ownership(step)})`]
  if (step.do === 'remove') return [`remove ${step.path}`]
  if (step.do === 'run') return [`run ${step.command.map(quoteWord).join(' ')}`]
  const lines = step.text.trimEnd().split(/\r?\n/)
  return [`write ${step.path} (${octal(step.mode)}${ownership(step)}):`, ...lines.map((line) => `  ${line}`)]
}

function ownership({ owner, group }: { owner?: string; group?: string }): string {
  return group === undefined ? '' : `, ${owner ?? 'root'}:${group}`
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

function quoteWord(word: string): string {
  return /^[\w./:@%+=,\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Runs the steps in order and reports those that change something. Throws `conflict` if a command fails. */
export async function takeSteps(steps: readonly InstallStep[], tell: (line: string) => void): Promise<void> {
  let isChanged = false
  for (const step of steps) {
    const told = presentStep(step)[0]?.replace(/:$/, '') ?? ''
    if (step.do !== 'run') {
      if (!take(step)) continue
      isChanged = true
      tell(told)
    } else if (step.onlyIf !== 'changed' || isChanged) {
      tell(told)
      await runCommand(step)
    }
  }
}

async function runCommand({ command, mayFail }: Extract<InstallStep, { do: 'run' }>): Promise<void> {
  const [program = '', ...words] = command
  try {
    await execute(program, words)
  } catch (cause) {
    if (mayFail) return
    throw conflict(`"${command.join(' ')}" failed: ${reasonOf(cause)}`)
  }
}

/** Returns what the command printed to standard error, or else the error's message. */
function reasonOf(cause: unknown): string {
  if (codeOf(cause) === 'ENOENT') return 'there is no such program.'
  const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : ''
  return said || messageOf(cause)
}

/** Returns whether the step changed anything. */
function take(step: Exclude<InstallStep, { do: 'run' }>): boolean {
  if (step.do === 'remove') {
    const isThere = lstatSync(step.path, { throwIfNoEntry: false }) !== undefined
    rmSync(step.path, { force: true })
    return isThere
  }
  if (step.do === 'folder') {
    const isThere = existsSync(step.path)
    if (!isThere) makeFolder(step)
    return !isThere
  }
  const path = step.do === 'copy' ? step.to : step.path
  const content = step.do === 'copy' ? readFileSync(step.from) : encode(step)
  // A killed run may have left this temporary file, with the secrets of a settings file.
  rmSync(unfinishedOf(path), { force: true })
  if (existsSync(path) && hasMode(path, step) && readFileSync(path).equals(content)) return false
  replace(path, content, step)
  return true
}

function hasMode(path: string, { mode }: { mode: number }): boolean {
  return process.platform === 'win32' || (statSync(path).mode & 0o7777) === mode
}

function encode({ text, encoding }: Extract<InstallStep, { do: 'write' }>): Buffer {
  return encoding === undefined ? Buffer.from(text) : Buffer.from(`\ufeff${text}`, encoding)
}

function makeFolder({ path, mode, owner, group }: Extract<InstallStep, { do: 'folder' }>): void {
  makeParents(path)
  mkdirSync(path, { mode })
  if (group !== undefined)
    chownSync(path, owner === undefined ? 0 : idOf('passwd', owner), idOf('group', group))
  // Overrides the umask: other users must be able to read some of these folders.
  chmodSync(path, mode)
}

function makeParents(path: string): void {
  const parent = dirname(path)
  if (existsSync(parent)) return
  makeFolder({ do: 'folder', path: parent, mode: 0o755 })
}

/** Replaces a file atomically: a reader finds the old file or the new one. */
function replace(path: string, content: Buffer, { mode, group }: { mode: number; group?: string }): void {
  const unfinished = unfinishedOf(path)
  makeParents(path)
  try {
    writeFileSync(unfinished, content, { flag: 'wx', mode: 0o600 })
    if (group !== undefined) chownSync(unfinished, 0, idOf('group', group))
    chmodSync(unfinished, mode)
    renameSync(unfinished, path)
  } catch (cause) {
    rmSync(unfinished, { force: true })
    throw cause
  }
}

const unfinishedOf = (path: string) => `${path}.oncebox-new`

function idOf(table: 'passwd' | 'group', name: string): number {
  const id = findId(table, name)
  if (id !== null) return id
  throw conflict(`There is no ${table === 'group' ? 'group' : 'user'} ${name}.`)
}

/** Returns null when Linux has no user or group of this name. */
export function findId(table: 'passwd' | 'group', name: string): number | null {
  const path = `/etc/${table}`
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
  const line = lines.find((entry) => entry.startsWith(`${name}:`))
  return line === undefined ? null : Number(line.split(':')[2])
}
