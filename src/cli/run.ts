// Connects the command line to the app and the process.

import { createUptime } from '../domain/uptime.ts'
import type { Environment } from '../settings/parsers.ts'
import { type App, app } from './app.ts'
import { runProgram } from './program.ts'
import { createShell, type Shell } from './shell.ts'

/** `uptime`: seconds since the machine was started. */
export type Outside = { env: Environment; now: () => number; uptime: () => number }

/** Resolves to the exit code. */
export function runCommandLine(argv: readonly string[], outside: Outside): Promise<number> {
  return runProgram(argv, createParts(outside))
}

/** What the commands are made of. */
export function createParts(outside: Outside): { shell: Shell; app: App } {
  const uptime = createUptime({ seconds: outside.uptime, elapsed: () => performance.now() })
  return { shell: createShell({ ...outside, uptime }), app }
}
