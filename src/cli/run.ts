// Connects the command line to the app and the process.

import { createUptime } from '../domain/uptime.ts'
import type { Environment } from '../settings/parsers.ts'
import type { App } from './app.ts'
import { runProgram } from './program.ts'
import { createShell, type Shell } from './shell.ts'

/** `uptime`: seconds since the machine was started. */
export type Outside = { env: Environment; now: () => number; uptime: () => number }

/** Resolves to the exit code. */
export function runCommandLine(argv: readonly string[], outside: Outside): Promise<number> {
  return runProgram(argv, createParts(outside))
}

const app: App = {
  startServer: async (...given) => (await import('../app.ts')).startServer(...given),
  openClient: async (...given) => (await import('../app/clients.ts')).openClient(...given),
  openAccounts: async (...given) => (await import('../app/account-commands.ts')).openAccounts(...given),
  importCommand: async (...given) => (await import('../app/import-command.ts')).importCommand(...given),
  examine: async (...given) => (await import('../app/doctor/doctor.ts')).examine(...given),
  findServing: async (...given) => (await import('../app/serving.ts')).findServing(...given),
  findServerOn: async (...given) => (await import('../app/serving.ts')).findServerOn(...given),
}

/** What the commands are made of. */
export function createParts(outside: Outside): { shell: Shell; app: App } {
  const uptime = createUptime({ seconds: outside.uptime, elapsed: () => performance.now() })
  return { shell: createShell({ ...outside, uptime }), app }
}
