// Starts and stops the two measured servers: the binary and a bare Bun.serve.

import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { runLoad } from './load.ts'
import { withoutErrors } from './measure.ts'
import { gets } from './requests.ts'
import type { Sandbox } from './sandbox.ts'

const READY_MILLISECONDS = 60_000
/** Matches the address in a complete line. */
const READY = /https?:\/\/(?:127\.0\.0\.1|localhost):(\d+)/

export interface Running {
  readonly port: number
  readonly pid: number
  readonly isTls: boolean
  /** When the process was started, by performance.now(). */
  readonly startedAt: number
  /** Sends SIGTERM and waits for the exit. Throws if it failed. */
  stop(): Promise<void>
}

interface Serving {
  readonly sandbox: Sandbox
  readonly prefix: readonly string[]
}

export function startBare({ sandbox, prefix }: Serving): Promise<Running> {
  const script = join(import.meta.dir, 'bare-server.ts')
  return start({
    sandbox,
    command: [...prefix, process.execPath, script],
    log: join(sandbox.folder, 'bare.log'),
  })
}

/**
 * Starts `oncebox serve` on a data folder, with its request log on, in a file, as it would be in production.
 */
export function startOncebox(
  from: Serving & { binary: string; dataDir: string; isTls?: boolean; env?: Record<string, string> },
): Promise<Running> {
  const { sandbox, prefix, binary, dataDir, isTls = false, env = {} } = from
  const tls = isTls ? ['--tls', 'auto'] : []
  const flags = ['--data-dir', dataDir, '--port', '0', '--min-free-space', '0', ...tls]
  return start({
    sandbox,
    command: [...prefix, binary, 'serve', ...flags],
    log: `${dataDir}.log`,
    isTls,
    env,
  })
}

/** Returns the milliseconds from the start of a server's process to its first answer. */
export async function measureFirstAnswer(server: Running): Promise<number> {
  withoutErrors(await runLoad({ ...gets(server, '/up'), connections: 1, until: { requests: 1 } }))
  return performance.now() - server.startedAt
}

async function start(from: {
  sandbox: Sandbox
  command: string[]
  log: string
  isTls?: boolean
  env?: Record<string, string>
}): Promise<Running> {
  const log = openSync(from.log, 'a')
  const startedAt = performance.now()
  const child = from.sandbox.adopt(
    Bun.spawn(from.command, {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: log,
      env: { ...cleanEnvironment(), ...from.env },
    }),
  )
  closeSync(log)
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MILLISECONDS)
  const port = await readPort(child.stdout)
  clearTimeout(timer)
  if (port === undefined) {
    const code = await child.exited
    throw new Error(
      `${from.command.join(' ')}\nended (${code}) before it was ready:\n${await tail(from.log)}`,
    )
  }
  const stopping = tellOfUnexpectedEnd(child, from.log)
  const { isTls = false } = from
  return { port, pid: child.pid, isTls, startedAt, stop: () => stop({ child, log: from.log, stopping }) }
}

/**
 * Prints the log of a server that ended unexpectedly, since a load only sees refused connections. The sandbox
 * uses SIGKILL.
 */
function tellOfUnexpectedEnd(child: Bun.Subprocess, log: string): AbortController {
  const stopping = new AbortController()
  void child.exited.then(async (code) => {
    if (stopping.signal.aborted || child.signalCode === 'SIGKILL') return
    console.error(`the server ended by itself (${child.signalCode ?? code}):\n${await tail(log)}`)
  })
  return stopping
}

async function stop(from: { child: Bun.Subprocess; log: string; stopping: AbortController }): Promise<void> {
  const { child, log, stopping } = from
  stopping.abort()
  child.kill('SIGTERM')
  const code = await child.exited
  if (code !== 0 && child.signalCode !== 'SIGTERM') {
    throw new Error(`the server ended with ${code}:\n${await tail(log)}`)
  }
}

async function readPort(stdout: ReadableStream<Uint8Array>): Promise<number | undefined> {
  const reader = stdout.getReader()
  const decoder = new TextDecoder()
  let printed = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    printed += decoder.decode(part.value, { stream: true })
    const port = READY.exec(printed)?.[1]
    if (port !== undefined) {
      void drain(reader)
      return Number(port)
    }
  }
  return undefined
}

/** Keeps reading, because a full pipe would block the server. */
async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done);
}

/** Removes the user's own settings, which would change the results. */
export function cleanEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ONCEBOX_')))
}

async function tail(file: string): Promise<string> {
  return (await Bun.file(file).text()).slice(-2000)
}
