// Runs the compiled binary as a process: starts it in an empty folder, sends requests, and stops or kills it.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { waitUntil } from './waiting.ts'

export const BINARY = resolve(import.meta.dir, '../../dist/oncebox')

export type Signal = 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGKILL'

export type StartOptions = {
  /** The data folder; a new one by default. */
  dataDir?: string
  /** The executable, if not dist/oncebox. */
  binary?: string
  /** The working directory; an empty folder by default. */
  cwd?: string
  env?: Record<string, string>
  /** Flags after the defaults (a free port, --min-free-space 0), which they can override. */
  flags?: string[]
}

export type RunOptions = { input?: string; cwd?: string; env?: Record<string, string> }

export type Ended = { stdout: string; stderr: string; code: number }

export type Started = Awaited<ReturnType<typeof startBinary>>

const READY_MS = 120_000
const MOST_TRIES = 10

// Removes the leftovers of interrupted tests when this process exits.
const processes = new Set<Bun.Subprocess>()
const folders = new Set<string>()
process.on('exit', () => {
  for (const child of processes) child.kill('SIGKILL')
  for (const path of folders) removeAll(path)
})

/** Makes an empty temporary folder. */
export function makeFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'oncebox-e2e-'))
  folders.add(path)
  return path
}

export function removeFolder(path: string): void {
  removeAll(path)
  folders.delete(path)
}

/**
 * Removes a folder with retries: children of a killed server end a moment after it, and may still write into
 * the folder.
 */
function removeAll(path: string, tries = 100): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (cause) {
    if (tries === 0) throw cause
    Bun.sleepSync(20)
    removeAll(path, tries - 1)
  }
}

/** Runs a command until it exits. */
export async function runBinary(args: string[], options: RunOptions = {}): Promise<Ended> {
  const child = spawn(args, { ...options, input: options.input ?? '' })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { stdout, stderr, code }
}

/**
 * Retries a command while it reports that PostgreSQL does not answer, which may take seconds on a busy
 * machine.
 */
export async function runOnDatabase(args: string[], options: RunOptions = {}): Promise<Ended> {
  for (let tries = 1; ; tries += 1) {
    const ended = await runBinary(args, options)
    const isSilent = ended.code !== 0 && /does not answer|did not answer/.test(ended.stderr)
    if (!isSilent || tries === MOST_TRIES) return ended
  }
}

/** Starts a server on a free port and waits for its ready line. */
export async function startBinary(options: StartOptions = {}) {
  const dataDir = options.dataDir ?? makeFolder()
  const emptyCwd = options.cwd === undefined ? makeFolder() : null
  const flags = ['--data-dir', dataDir, '--port', '0', '--min-free-space', '0', ...(options.flags ?? [])]
  const startedAt = performance.now()
  const child = spawn(['serve', ...flags], { ...options, cwd: options.cwd ?? emptyCwd ?? tmpdir() })
  const stdout = collect(child.stdout)
  const stderr = collect(child.stderr)
  child.exited.then(() => emptyCwd !== null && removeFolder(emptyCwd))
  const url = await waitForReady()

  async function waitForReady(): Promise<string> {
    while (performance.now() < startedAt + READY_MS && child.exitCode === null) {
      // The lines arrive together, with the address in the first one.
      const match = /https?:\/\/\S+?:\d+(?=\D)/.exec(stdout.text())
      if (match !== null && stdout.text().endsWith('\n')) return match[0]
      await Bun.sleep(2)
    }
    // Output of the server may arrive after its exit.
    await end('SIGKILL')
    throw new Error(`the server did not become ready: ${stdout.text()} ${stderr.text()}`)
  }

  /** Sends a signal and resolves to the exit code; 128 and more when the signal itself ended the process. */
  async function end(signal: Signal = 'SIGTERM'): Promise<number> {
    child.kill(signal)
    const code = await child.exited
    await Promise.all([stdout.ended, stderr.ended])
    return code
  }

  /**
   * Resolves once the words are in the log. A line may arrive here a moment later than the response.
   */
  async function untilLogged(words: string): Promise<void> {
    await waitUntil(() => stderr.text().includes(words)).catch(() => {
      throw new Error(`not in the log: ${words}\n${stderr.text()}`)
    })
  }

  const ask = (path: string, init?: BunFetchRequestInit) => fetch(`${url}${path}`, init)

  function create(push: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Response> {
    return ask('/api/v2/pushes', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ push }),
    })
  }

  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid,
    dataDir,
    stdout: stdout.text,
    stderr: stderr.text,
    untilLogged,
    /** Sends a request to a path and query of this server. */
    ask,
    create,
    /** `urlToken` may be followed by a query. */
    retrieve: (urlToken: string, init?: RequestInit) => ask(`/api/v2/pushes/${urlToken}`, init),
    /** Closes the pipe of the log, as a reader that exits does. */
    closeOutputs: () => Promise.all([stdout.close(), stderr.close()]),
    /** Runs an account command on the same data folder. */
    command: (args: string[], input = '') => runBinary([...args, '--data-dir', dataDir], { input }),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    end,
  }
}

/** Tracks the servers and folders of one test file; `clear` removes them. */
export function createStage() {
  let servers: Started[] = []
  let made: string[] = []

  function folder(): string {
    const path = makeFolder()
    made.push(path)
    return path
  }

  async function start(options: StartOptions = {}): Promise<Started> {
    const server = await startBinary({ ...options, dataDir: options.dataDir ?? folder() })
    servers.push(server)
    return server
  }

  /** Runs `serve` when the start should be refused. */
  const serve = (dataDir: string, ...flags: string[]) =>
    runBinary(['serve', '--data-dir', dataDir, '--port', '0', ...flags])

  async function clear(): Promise<void> {
    await Promise.all(servers.map((server) => server.end('SIGKILL')))
    for (const path of made) removeFolder(path)
    servers = []
    made = []
  }

  return { folder, start, serve, clear }
}

type SpawnOptions = { binary?: string; cwd?: string; env?: Record<string, string>; input?: string }

function spawn(args: string[], { binary = BINARY, cwd = tmpdir(), env = {}, input }: SpawnOptions) {
  if (!existsSync(binary)) throw new Error('dist/oncebox is missing: run "npm run build" first')
  const child = Bun.spawn([binary, ...args], {
    cwd,
    stdin: input === undefined ? 'ignore' : new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...cleanEnv(), ...env },
  })
  processes.add(child)
  child.exited.then(() => processes.delete(child))
  return child
}

/** Removes variables of the tests' own environment that would configure a server. */
function cleanEnv(): Record<string, string> {
  const { PATH = '', HOME = tmpdir() } = process.env
  return { PATH, HOME }
}

function collect(stream: ReadableStream<Uint8Array>) {
  let text = ''
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  const read = async () => {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      text += decoder.decode(value, { stream: true })
    }
  }
  return { text: () => text, ended: read().catch(() => undefined), close: () => reader.cancel() }
}
