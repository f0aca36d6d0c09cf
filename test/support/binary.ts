// The compiled binary as a process: started in an empty folder, asked through its socket, ended as a test
// wants.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { waitUntil } from './waiting.ts'

export const BINARY = resolve(import.meta.dir, '../../dist/oncebox')

export type Signal = 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGKILL'

export type StartOptions = {
  /** New and its own unless given. */
  dataDir?: string
  /** Another build than dist/oncebox. */
  binary?: string
  /** The folder it is started in; empty unless given. */
  cwd?: string
  env?: Record<string, string>
  /** On top of a free port and no floor of free space; the last of a kind wins. */
  flags?: string[]
}

export type RunOptions = { input?: string; cwd?: string; env?: Record<string, string> }

export type Ended = { stdout: string; stderr: string; code: number }

export type Started = Awaited<ReturnType<typeof startBinary>>

const READY_MS = 120_000
const MOST_TRIES = 10

// What interrupted tests leave behind goes with this process.
const processes = new Set<Bun.Subprocess>()
const folders = new Set<string>()
process.on('exit', () => {
  for (const child of processes) child.kill('SIGKILL')
  for (const path of folders) removeAll(path)
})

/** A new temporary folder, empty. */
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
 * What a killed server has started ends a moment after it, and may still put a file into a folder that is
 * being removed.
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

/** Runs a command to its end. */
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
 * Runs a command again, as people do, while it says that PostgreSQL does not answer: that of a busy machine
 * may take seconds to.
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
      // Its lines come together, the address in the first one.
      const match = /https?:\/\/\S+?:\d+(?=\D)/.exec(stdout.text())
      if (match !== null && stdout.text().endsWith('\n')) return match[0]
      await Bun.sleep(2)
    }
    // What it said last may arrive after its end.
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
   * Resolves once these words are in the log: what is written there arrives here a moment later, after an
   * answer perhaps.
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
    /** Path and query on this server. */
    ask,
    create,
    /** `urlToken` may be followed by a query. */
    retrieve: (urlToken: string, init?: RequestInit) => ask(`/api/v2/pushes/${urlToken}`, init),
    /** Like a reader of the log that goes away. */
    closeOutputs: () => Promise.all([stdout.close(), stderr.close()]),
    /** An account command on the same data folder. */
    command: (args: string[], input = '') => runBinary([...args, '--data-dir', dataDir], { input }),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    end,
  }
}

/** A room for the tests of one file: what is started or made in it is gone once it is cleared. */
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

  /** `serve` where it is expected to be refused. */
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

/** Nothing of the environment that the tests run in may configure a server. */
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
