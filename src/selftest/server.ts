// Runs a server of this program as a child process, and sends it requests and signals.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The command that starts this program: the executable, or the runtime and its entry file. */
export type Self = readonly string[]

type ServerOptions = { self: Self; dataDir: string }

export type Server = Awaited<ReturnType<typeof startServer>>

const PIPED = { stdout: 'pipe', stderr: 'pipe', env: {} } as const
const READY_MS = 20_000
const BUSY_MS = 30_000

/** Throws with the server's last error line when it does not become ready. */
export async function startServer({ self, dataDir }: ServerOptions) {
  const flags = ['--data-dir', dataDir, '--host', '127.0.0.1', '--port', '0', '--min-free-space', '0']
  const child = Bun.spawn([...self, 'serve', ...flags], { ...PIPED, stdin: 'ignore' })
  const errors = new Response(child.stderr).text()
  const url = await readUrl(child.stdout).catch(() => null)
  if (url === null) {
    child.kill('SIGKILL')
    throw new Error(`the server did not become ready: ${(await errors).trim().split('\n').at(-1)}`)
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
    child.kill(signal)
    return child.exited
  }

  /** Retries while the server answers 503, which means that it counted nothing. */
  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const deadline = performance.now() + BUSY_MS
    for (;;) {
      const response = await fetch(`${url}${path}`, init)
      if (response.status !== 503 || performance.now() > deadline) return response
      await response.arrayBuffer()
      await Bun.sleep(1000 * Number(response.headers.get('retry-after') ?? 1))
    }
  }

  return {
    ask,
    end,
    log: errors,
    create: (push: Record<string, unknown>, headers: Record<string, string> = {}) =>
      ask('/api/v2/pushes', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ push }),
      }),
    retrieve: (urlToken: string, init: RequestInit = {}) => ask(`/api/v2/pushes/${urlToken}`, init),
  }
}

async function readUrl(stdout: ReadableStream<Uint8Array>): Promise<string | null> {
  const deadline = performance.now() + READY_MS
  let text = ''
  for await (const chunk of stdout) {
    text += new TextDecoder().decode(chunk)
    const url = /http:\/\/[\d.]+:\d+/.exec(text)?.[0]
    if (url !== undefined) return url
    if (performance.now() > deadline) break
  }
  return null
}

/** Runs a command of this program on the same folder; throws with its error output when it fails. */
export async function runCommand(
  { self, dataDir }: ServerOptions,
  args: string[],
  input = '',
): Promise<string> {
  const child = Bun.spawn([...self, ...args, '--data-dir', dataDir], { ...PIPED, stdin: new Blob([input]) })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(stderr.trim())
  return stdout.trim()
}

type FolderFile = { path: string; mode: number; bytes: Buffer }

/** Reads all files of the data folder. */
export function readFolder(folder: string): FolderFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name)
    try {
      return entry.isFile() ? [{ path, mode: statSync(path).mode & 0o777, bytes: readFileSync(path) }] : []
    } catch {
      return []
    }
  })
}
