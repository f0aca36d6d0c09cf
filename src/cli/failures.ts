// Failures of commands: the message on standard error, which is a line of JSON if --log-format asks for it,
// and the exit code.

import { ClientFailure, type ClientFailureKind } from '../client/failure.ts'
import { DamageError, isDomainError } from '../domain/errors.ts'
import { codeOf, presentSystemError } from '../domain/system-errors.ts'
import { printableLine } from '../text/printable.ts'
import type { Shell } from './shell.ts'

const FAILED = 1
export const WRONG_USAGE = 2
const EXIT_CODES: Record<ClientFailureKind, number> = {
  failed: FAILED,
  gone: 3,
  refused: 4,
  unavailable: 5,
  unopened: 6,
}
const INTERRUPTED = 130

/** Invalid flags, arguments or variables. Lists all problems. */
export class UsageError extends Error {
  readonly problems: string[]
  readonly help: string

  /** `help` is the command whose `--help` the message recommends, such as `oncebox user add`. */
  constructor(problems: string[], help: string) {
    super(problems.join('; '))
    this.problems = problems
    this.help = help
  }
}

/** An expected failure of a command, shown as one line without a stack. */
export class CommandFailure extends Error {}

/** A failure whose message is already on standard error. */
export class ReportedFailure extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super('already reported')
    this.exitCode = exitCode
  }
}

type FailureReport = { lines: string[]; exitCode: number }

export function presentFailure(cause: unknown): FailureReport {
  // Closing failed as well, most likely for the same reason.
  if (cause instanceof SuppressedError) return presentFailure(cause.suppressed)
  if (cause instanceof ReportedFailure) return { lines: [], exitCode: cause.exitCode }
  if (cause instanceof UsageError) return { lines: presentProblems(cause), exitCode: WRONG_USAGE }
  // The password prompt throws this on Ctrl-C. Minifying removes its class name.
  if (cause instanceof Error && cause.name === 'ExitPromptError') {
    return { lines: ['oncebox: cancelled'], exitCode: INTERRUPTED }
  }
  if (cause instanceof ClientFailure)
    return { lines: [`oncebox: ${printableLine(cause.message)}`], exitCode: EXIT_CODES[cause.kind] }
  if (isForPeople(cause)) return { lines: [`oncebox: ${presentSystemError(cause)}`], exitCode: FAILED }
  const trace = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  return { lines: ['oncebox: this is a bug in Oncebox', trace], exitCode: FAILED }
}

/** Whether the message is written for users, so that a stack trace would not help. */
function isForPeople(cause: unknown): cause is Error {
  const isExpected = isDomainError(cause) || cause instanceof CommandFailure || cause instanceof DamageError
  // Errors of the operating system, such as a missing permission or a full disk.
  return isExpected || (cause instanceof Error && /^E[A-Z]+$/.test(codeOf(cause)))
}

function presentProblems({ problems, help }: UsageError): string[] {
  const [first = ''] = problems
  const list = problems.map((problem) => `  ${problem}`)
  const said =
    problems.length === 1 ? [`oncebox: ${first}`] : [`oncebox: ${problems.length} problems`, ...list]
  return [...said, `See "${help} --help".`]
}

/** Returns a shell that writes each line as JSON, in the form of the log. */
export function inJson(shell: Shell): Shell {
  return {
    ...shell,
    print: (...lines) => shell.print(...lines.map((line) => toJson(shell, 'info', line))),
    say: (...lines) => shell.say(...lines.map((line) => toJson(shell, 'error', line))),
    warn: (...warnings) => shell.say(...warnings.map((warning) => toJson(shell, 'warn', warning))),
  }
}

/** Writes a failure as one line of JSON. Returns the failure to throw in its place. */
export function sayFailure(shell: Shell, cause: unknown): ReportedFailure {
  const { lines, exitCode } = presentFailure(cause)
  if (lines.length > 0) shell.say(toJson(shell, 'fatal', lines.join('\n')))
  return new ReportedFailure(exitCode)
}

function toJson(shell: Shell, level: string, line: string): string {
  const msg = line.replace(/^oncebox: /, '')
  return JSON.stringify({ level, time: new Date(shell.now()).toISOString(), msg })
}
