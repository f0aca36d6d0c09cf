// Lines of `oncebox serve` in the format that --log-format asks for, so that a log collector can parse all of them.

import { presentFailure, ToldFailure } from './failures.ts'
import type { Shell } from './shell.ts'

/** A shell that prints and says each line as JSON, like those of the log. */
export function inJson(shell: Shell): Shell {
  return {
    ...shell,
    print: (line) => shell.print(toJson(shell, 'info', line)),
    say: (line) => shell.say(toJson(shell, line.includes('warning: ') ? 'warn' : 'error', line)),
  }
}

/** Says a failure as one line of JSON and returns what is left to throw. */
export function sayFailure(shell: Shell, cause: unknown): ToldFailure {
  const { lines, exitCode } = presentFailure(cause)
  if (lines.length > 0) shell.say(toJson(shell, 'fatal', lines.join('\n')))
  return new ToldFailure(exitCode)
}

function toJson(shell: Shell, level: string, line: string): string {
  const msg = line.replace(/^oncebox: (warning: )?/, '')
  return JSON.stringify({ level, time: new Date(shell.now()).toISOString(), msg })
}
