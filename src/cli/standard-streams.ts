// The end of standard output and standard error: everything written, or said to be missing.

import { codeOf, refusalOf } from '../domain/system-errors.ts'

type Streams = { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream }

/**
 * Call it before anything is written. `end` resolves to the exit code, which is 1 at least when output is
 * missing.
 */
export function watchStreams({ stdout, stderr }: Streams) {
  const outputFailure = watchWrites(stdout)
  const messageFailure = watchWrites(stderr)

  async function end(exitCode: number): Promise<number> {
    await finish(stdout, outputFailure)
    const lost = outputFailure()
    if (lost !== null) stderr.write(`oncebox: standard output is not whole: ${refusalOf(lost)}.\n`)
    await finish(stderr, messageFailure)
    return lost === null ? exitCode : exitCode || 1
  }

  return { end }
}

/**
 * Returns a function that gives the error of a failed write. A reader that has gone, as in `list | head -1`,
 * is none.
 */
function watchWrites(stream: NodeJS.WriteStream): () => Error | null {
  let failure: Error | null = null
  stream.on('error', (cause) => {
    if (codeOf(cause) !== 'EPIPE') failure = cause
  })
  return () => failure
}

/**
 * Ends a stream and waits for it, because `process.exit` discards output that a slow pipe has not accepted
 * yet.
 */
async function finish(stream: NodeJS.WriteStream, failure: () => Error | null): Promise<void> {
  // Lines of the log are written, and errors told, at the end of a turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  // In Bun, `end` never returns after a failed write, and takes all the processor time.
  if (failure() !== null) return
  await new Promise<void>((resolve) => {
    stream.once('error', () => resolve()).end(() => resolve())
  })
}
