// The file of `oncebox exec --status-file`: says whether the exit code is the command's or oncebox's.

import { lstatSync } from 'node:fs'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { CommandFailure } from '../failures.ts'
import { replaceFile } from '../whole-file.ts'

export type ExecStatus = {
  /**
   * `exited`: the exit code is the command's. `gone`: a link was opened before or has ended. `failed`:
   * oncebox failed. `not_executable`, `not_found`: the command could not be started. `unfinished`: it has not
   * ended, or oncebox was killed.
   */
  outcome: 'exited' | 'gone' | 'failed' | 'not_executable' | 'not_found' | 'unfinished'
  exitCode: number | null
  signal: string | null
}

/** Replaces a regular file, and refuses to replace anything else. Throws CommandFailure if it cannot. */
export function writeStatus(path: string, { outcome, exitCode, signal }: ExecStatus): void {
  const status = { outcome, exit_code: exitCode, signal }
  try {
    if (isOther(path)) throw new Error('it is not a regular file')
    replaceFile(path, `${JSON.stringify(status)}\n`, { mode: 0o600 })
  } catch (cause) {
    throw new CommandFailure(`--status-file ${JSON.stringify(path)} cannot be written: ${reasonOf(cause)}.`)
  }
}

function isOther(path: string): boolean {
  try {
    return !lstatSync(path).isFile()
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return false
    throw cause
  }
}
