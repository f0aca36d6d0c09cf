// The compiled binary as a process: started in a folder of its own, asked through its socket, ended as a test wants.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export const BINARY = resolve(import.meta.dir, '../../dist/oncebox')

export type Started = Awaited<ReturnType<typeof startBinary>>

export type StartOptions = { dataDir?: string; cwd?: string; env?: Record<string, string>; flags?: string[] }

const READY_MS = 15_000

/** A temporary folder; the caller removes it. */
export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'oncebox-e2e-'))
}

export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true })
}

/** Runs a command to its end. */
export async function runBinary(
  args: string[],
  options: { input?: string; env?: Record<string, string> } = {},
) {
  requireBinary()
  const child = Bun.spawn([BINARY, ...args], {
    stdin: new Blob([options.input ?? '']),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...cleanEnv(), ...options.env },
  })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { stdout, stderr, code }
}

/** Starts a server on a free port and waits for its ready line. */
export async function startBinary(options: StartOptions = {}) {
  requireBinary()
  const dataDir = options.dataDir ?? makeFolder()
  const flags = ['--data-dir', dataDir, '--port', '0', '--min-free-space', '0', ...(options.flags ?? [])]
  const child = Bun.spawn([BINARY, 'serve', ...flags], {
    cwd: options.cwd ?? tmpdir(),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...cleanEnv(), ...options.env },
  })
  const stdout = collect(child.stdout)
  const stderr = collect(child.stderr)
  const url = await waitForReady()

  async function waitForReady(): Promise<string> {
    const deadline = performance.now() + READY_MS
    while (performance.now() < deadline && child.exitCode === null) {
      const match = /http:\/\/\S+?:\d+/.exec(stdout.text())
      if (match !== null) return match[0]
      await Bun.sleep(5)
    }
    child.kill('SIGKILL')
    throw new Error(`the server did not become ready: ${stdout.text()} ${stderr.text()}`)
  }

  async function end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM'): Promise<number> {
    child.kill(signal)
    return child.exited
  }

  function create(push: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${url}/api/v2/pushes`, {
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
    create,
    retrieve: (urlToken: string, init?: RequestInit) => fetch(`${url}/api/v2/pushes/${urlToken}`, init),
    end,
    exited: child.exited,
  }
}

function requireBinary(): void {
  if (!existsSync(BINARY)) throw new Error('dist/oncebox is missing: run "npm run build" first')
}

/** Nothing of the environment that the tests run in may configure a server. */
function cleanEnv(): Record<string, string> {
  const { PATH = '', HOME = tmpdir() } = process.env
  return { PATH, HOME }
}

function collect(stream: ReadableStream<Uint8Array>) {
  let text = ''
  const decoder = new TextDecoder()
  const reading = (async () => {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true })
  })()
  reading.catch(() => undefined)
  return { text: () => text }
}
