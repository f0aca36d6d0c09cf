// Lines of `oncebox serve` in the format that --log-format asks for, so that a log collector can parse all of them.

import type { Command } from 'commander'
import { readSettings } from '../settings/fold.ts'
import { settings } from '../settings/table.ts'
import { presentFailure, ToldFailure } from './failures.ts'
import { givenFlags } from './flags.ts'
import type { Shell } from './shell.ts'

const FORMAT = { logFormat: settings.logFormat }

/** Whether --log-format asks for JSON, even if other flags are wrong. */
export function wantsJson(command: Command, { place, readFile }: Shell): boolean {
  const { config } = readSettings(FORMAT, { flags: givenFlags(command, FORMAT), place, readFile })
  return config?.logFormat === 'json'
}

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
