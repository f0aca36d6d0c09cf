// The entry of the process. No other file reads its arguments and environment.

import './env.ts'
import { uptime } from 'node:os'
import { runCommandLine } from './cli/program.ts'
import { watchStreams } from './cli/standard-streams.ts'

/** Runs one command line and resolves to its exit code. */
export function run(argv: readonly string[], env: NodeJS.ProcessEnv, umask: number): Promise<number> {
  return runCommandLine(argv, { env, now: Date.now, uptime, umask })
}

/** Delay before the JIT compiler is turned up: a start runs most of its code only once. */
const STARTED_MS = 1_000

if (import.meta.main) {
  setTimeout(() => Bun.unsafe.setJITPolicy(1), STARTED_MS).unref()
  // Files that this process creates must not be accessible to other users of the machine.
  const umask = process.umask(0o077)
  const streams = watchStreams(process)
  process.exit(await streams.end(await run(process.argv.slice(2), process.env, umask)))
}
