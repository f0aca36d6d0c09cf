// The steps of an installation: shown by --dry-run, or taken one after another. A step that is done already changes nothing.

import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { DomainError } from '../domain/errors.ts'
import { codeOf } from '../domain/system-errors.ts'

const execute = promisify(execFile)

export type Step =
  | { do: 'copy'; from: string; to: string; mode: number }
  | { do: 'write'; path: string; mode: number; text: string; group?: string; encoding?: 'utf16le' }
  | { do: 'folder'; path: string; mode: number; owner?: string; group?: string }
  | { do: 'remove'; path: string }
  | { do: 'run'; command: readonly string[]; onlyIf?: 'changed'; mayFail?: true }

/** What --dry-run prints of a step: files whole, commands as they would be typed. */
export function presentStep(step: Step): string[] {
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

/** Takes the steps in order. `isChanged`: whether something has changed before. Throws `conflict` for a failed command. */
export async function takeSteps(
  steps: readonly Step[],
  { isChanged, tell }: { isChanged: boolean; tell: (line: string) => void },
): Promise<{ isChanged: boolean }> {
  let changed = isChanged
  for (const step of steps) {
    if (step.do !== 'run') {
      const did = isDone(step) ? false : take(step)
      if (did) tell(presentStep(step)[0]?.replace(/:$/, '') ?? '')
      changed = changed || did
      continue
    }
    if (step.onlyIf === 'changed' && !changed) continue
    tell(presentStep(step)[0] ?? '')
    await runCommand(step)
  }
  return { isChanged: changed }
}

async function runCommand({ command, mayFail }: Extract<Step, { do: 'run' }>): Promise<void> {
  const [program = '', ...words] = command
  try {
    await execute(program, words)
  } catch (cause) {
    if (mayFail) return
    throw new DomainError('conflict', `"${command.join(' ')}" failed: ${reasonOf(cause)}`)
  }
}

/** The last line of the program's output. */
function reasonOf(cause: unknown): string {
  if (codeOf(cause) === 'ENOENT') return 'there is no such program.'
  const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : ''
  return said || (cause instanceof Error ? cause.message : String(cause))
}

type FileStep = Exclude<Step, { do: 'run' }>

function isDone(step: FileStep): boolean {
  if (step.do === 'remove') return lstatSync(step.path, { throwIfNoEntry: false }) === undefined
  if (step.do === 'copy') return existsSync(step.to) && isSame(step.from, step.to) && hasMode(step.to, step)
  if (!existsSync(step.path)) return false
  if (step.do === 'folder') return true
  return readFileSync(step.path).equals(encode(step)) && hasMode(step.path, step)
}

function isSame(from: string, to: string): boolean {
  if (realpathSync(from) === realpathSync(to)) return true
  return statSync(from).size === statSync(to).size && readFileSync(from).equals(readFileSync(to))
}

function hasMode(path: string, { mode }: { mode: number }): boolean {
  return process.platform === 'win32' || (statSync(path).mode & 0o7777) === mode
}

function take(step: FileStep): true {
  if (step.do === 'remove') rmSync(step.path, { force: true })
  else if (step.do === 'folder') makeFolder(step)
  else if (step.do === 'copy') replace(step.to, step, (path) => copyFileSync(step.from, path))
  else replace(step.path, step, (path) => writeFileSync(path, encode(step), { flag: 'wx', mode: 0o600 }))
  return true
}

function encode({ text, encoding }: Extract<Step, { do: 'write' }>): Buffer {
  return encoding === undefined ? Buffer.from(text) : Buffer.from(`\ufeff${text}`, encoding)
}

function makeFolder({ path, mode, owner, group }: Extract<Step, { do: 'folder' }>): void {
  makeParents(path)
  mkdirSync(path, { mode })
  if (group !== undefined)
    chownSync(path, owner === undefined ? 0 : idOf('passwd', owner), idOf('group', group))
  // The umask of this process closes new folders to others, and some of these must be open.
  chmodSync(path, mode)
}

function makeParents(path: string): void {
  const parent = dirname(path)
  if (existsSync(parent)) return
  makeFolder({ do: 'folder', path: parent, mode: 0o755 })
}

/** Replaces a file atomically: a reader finds the old file or the new one. */
function replace(
  path: string,
  { mode, group }: { mode: number; group?: string },
  make: (path: string) => void,
): void {
  const unfinished = `${path}.oncebox-new`
  makeParents(path)
  rmSync(unfinished, { force: true })
  try {
    make(unfinished)
    if (group !== undefined) chownSync(unfinished, 0, idOf('group', group))
    chmodSync(unfinished, mode)
    renameSync(unfinished, path)
  } catch (cause) {
    rmSync(unfinished, { force: true })
    throw cause
  }
}

function idOf(table: 'passwd' | 'group', name: string): number {
  const line = readFileSync(`/etc/${table}`, 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  if (line === undefined)
    throw new DomainError('conflict', `There is no ${table === 'group' ? 'group' : 'user'} ${name}.`)
  return Number(line.split(':')[2])
}
