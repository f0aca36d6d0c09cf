// Writes a text for `oncebox get`, and checks beforehand whether --output is writable.

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { numberedName } from '../domain/received-names.ts'
import { codeOf, refusalOf } from '../domain/system-errors.ts'
import { isFolder, isNamedAsFolder } from './received-files.ts'

/** The file name of a text in a folder. The sender's name for the push is private. */
const TEXT_NAME = 'push.txt'

/** Checked before the retrieval, so that no view is spent on a text that cannot be saved. */
export function outputProblems(output: string | undefined): string[] {
  if (output === undefined) return []
  if (output === '') return ['--output: a value is missing, it must be a path']
  const problem = pathProblem(output)
  return problem === null ? [] : [`--output ${JSON.stringify(output)}: ${problem}`]
}

function pathProblem(output: string): string | null {
  const existing = findExisting(resolve(output))
  if ('problem' in existing) return existing.problem
  const isWhole = existing.path === resolve(output)
  if (!isFolder(existing.path)) return isWhole ? 'already exists' : `${existing.path} is not a folder`
  try {
    accessSync(existing.path, constants.W_OK | constants.X_OK)
    return null
  } catch (cause) {
    return `${existing.path} cannot be written to: ${refusalOf(cause)}`
  }
}

/** The path itself, or the nearest existing folder above it. */
function findExisting(path: string): { path: string } | { problem: string } {
  try {
    if (lstatSync(path).isSymbolicLink() && !existsSync(path))
      return { problem: 'is a symbolic link to a missing file' }
    return { path }
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') return findExisting(dirname(path))
    return { problem: `cannot be used: ${refusalOf(cause)}` }
  }
}

/** Writes a new file that only this user can read; returns its path. Overwrites nothing and follows no link. */
export function writeText(text: string, output: string): string {
  if (!isNamedAsFolder(output)) {
    mkdirSync(dirname(output), { recursive: true })
    writeWhole(output, text)
    return output
  }
  mkdirSync(output, { recursive: true })
  for (let n = 1; ; n += 1) {
    const path = join(output, numberedName(TEXT_NAME, n))
    if (writeNew(path, text)) return path
  }
}

function writeNew(path: string, text: string): boolean {
  try {
    writeWhole(path, text)
    return true
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw cause
  }
}

/** Leaves no part of the text behind, which somebody would take for the whole. */
function writeWhole(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, text)
  } catch (cause) {
    rmSync(path, { force: true })
    throw cause
  } finally {
    closeSync(file)
  }
}
