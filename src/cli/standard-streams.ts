// Standard output and standard error: writes without loss, and reports output that could not be written.

import { write } from 'node:fs'
import { promisify } from 'node:util'
import { codeOf, refusalOf } from '../domain/system-errors.ts'

type Streams = { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream }

/**
 * Watches for failed writes. Call it before anything is written. `end` waits for all output and resolves to
 * the exit code, at least 1 if output was lost.
 */
export function watchStreams({ stdout, stderr }: Streams) {
  const outputFailure = watchWrites(stdout)
  const messageFailure = watchWrites(stderr)

  async function end(exitCode: number): Promise<number> {
    await finish(stdout, outputFailure)
    const lost = outputFailure()
    if (lost !== null) stderr.write(`oncebox: standard output is incomplete: ${refusalOf(lost)}.\n`)
    await finish(stderr, messageFailure)
    return lost === null ? exitCode : exitCode || 1
  }

  return { end }
}

/**
 * Returns a function that returns the error of a failed write. Ignores EPIPE: the reader is gone, as in
 * `list | head -1`.
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
  // Log lines are written, and errors reported, at the end of a turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  // In Bun, `end` busy-loops for ever after a failed write.
  if (failure() !== null) return
  await new Promise<void>((resolve) => {
    stream.once('error', () => resolve()).end(() => resolve())
  })
}

/**
 * Collects the lines of many requests into one write. One system call per line would be a tenth of a
 * request's cost.
 */
export function gatherLines(write: (lines: string) => void): (line: string) => void {
  let gathered = ''
  return (line) => {
    if (gathered === '') {
      setImmediate(() => {
        write(gathered)
        gathered = ''
      })
    }
    gathered += `${line}\n`
  }
}

const FULL_PIPE_RETRY_MS = 5
const writeTo = promisify(write)

/** Writes to standard output as fast as its reader takes it. Throws EPIPE once the reader is gone. */
export async function writeOutput(bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += await writeSome(bytes.subarray(at))
}

/** Retries while the pipe is full (EAGAIN). Returns the bytes written. */
async function writeSome(bytes: Uint8Array): Promise<number> {
  try {
    return (await writeTo(process.stdout.fd, bytes, 0, bytes.length, null)).bytesWritten
  } catch (cause) {
    if (codeOf(cause) !== 'EAGAIN') throw cause
    await Bun.sleep(FULL_PIPE_RETRY_MS)
    return 0
  }
}
