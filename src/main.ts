// The entry of the process. No other file reads its arguments and environment.

import './env.ts'
import { uptime } from 'node:os'
import { runCommandLine } from './cli/run.ts'

/** Runs one command line and resolves to its exit code. */
export function run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return runCommandLine(argv, { env, now: Date.now, uptime })
}

/** Ends a stream and waits for it, because `process.exit` discards output that a slow pipe has not accepted yet. */
function finish(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.end(() => resolve()))
}

if (import.meta.main) {
  // No file created here may be accessible to other users of the machine.
  process.umask(0o077)
  const exitCode = await run(process.argv.slice(2), process.env)
  // Wait for the last lines of the log, which are written at the end of this turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  await Promise.all([finish(process.stdout), finish(process.stderr)])
  process.exit(exitCode)
}
