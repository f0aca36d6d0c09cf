// The process: the only place that sees its arguments and environment. Everything else is told.

import './env.ts'
import { runCommandLine } from './cli/run.ts'

/** Runs one command line and resolves to its exit code. */
export function run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return runCommandLine(argv, { env, now: Date.now })
}

/** `process.exit` throws away what a slow pipe has not taken yet, and so does waiting for a last `write`. */
function finish(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.end(() => resolve()))
}

if (import.meta.main) {
  // Nothing that is made here is for other users of the machine.
  process.umask(0o077)
  const exitCode = await run(process.argv.slice(2), process.env)
  // The last lines of the log are written at the end of this turn.
  await new Promise((resolve) => setImmediate(resolve))
  await Promise.all([finish(process.stdout), finish(process.stderr)])
  process.exit(exitCode)
}
