// How a command ends when it cannot do what it was asked: the text on standard error and the exit code.

import { CommanderError } from 'commander'
import { ClientFailure, type FailureKind } from '../client/failure.ts'
import { DamageError, isDomainError } from '../domain/errors.ts'
import { codeOf, presentSystemError } from '../domain/system-errors.ts'
import { printableLine } from './format.ts'

const FAILED = 1
const WRONG_USAGE = 2
const EXIT_CODES: Record<FailureKind, number> = { failed: FAILED, gone: 3, refused: 4, unavailable: 5 }
const INTERRUPTED = 130

/** Flags, arguments or variables that cannot be used as they are; lists everything that is wrong. */
export class UsageError extends Error {
  readonly problems: string[]
  readonly help: string

  /** `help` is the command whose `--help` tells more, such as `oncebox user add`. */
  constructor(problems: string[], help: string) {
    super(problems.join('; '))
    this.problems = problems
    this.help = help
  }
}

/** An expected failure that only the command line knows: one line for a person, no stack. */
export class CommandFailure extends Error {}

export type Ending = { lines: string[]; exitCode: number }

export function presentFailure(cause: unknown): Ending {
  if (cause instanceof UsageError) return { lines: presentProblems(cause), exitCode: WRONG_USAGE }
  // Help and version were printed by commander itself.
  if (cause instanceof CommanderError) return { lines: [], exitCode: cause.exitCode === 0 ? 0 : WRONG_USAGE }
  // Thrown by the password prompt on Ctrl-C; its class name does not survive minifying.
  if (cause instanceof Error && cause.name === 'ExitPromptError') {
    return { lines: ['oncebox: cancelled'], exitCode: INTERRUPTED }
  }
  if (cause instanceof ClientFailure) {
    return { lines: [`oncebox: ${printableLine(cause.message)}`], exitCode: EXIT_CODES[cause.kind] }
  }
  if (isForPeople(cause)) {
    return { lines: [`oncebox: ${presentSystemError(cause)}`], exitCode: FAILED }
  }
  const trace = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  return { lines: ['oncebox: this is a bug in Oncebox', trace], exitCode: FAILED }
}

/** Its message says what to do; a stack would say nothing more. */
function isForPeople(cause: unknown): cause is Error {
  const isExpected = isDomainError(cause) || cause instanceof CommandFailure || cause instanceof DamageError
  return isExpected || isSystemError(cause)
}

function presentProblems({ problems, help }: UsageError): string[] {
  const [first = ''] = problems
  const list = problems.map((problem) => `  ${problem}`)
  const said =
    problems.length === 1 ? [`oncebox: ${first}`] : [`oncebox: ${problems.length} problems`, ...list]
  return [...said, `See "${help} --help".`]
}

/** What the operating system refused: no permission, port in use, disk full. */
function isSystemError(cause: unknown): cause is Error {
  return cause instanceof Error && /^E[A-Z]+$/.test(codeOf(cause))
}
