// A command that is interrupted during a request says what may have happened.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BINARY } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { type SocketServer, serveFake } from '../support/socket.ts'
import { mountSmallDisk } from '../support/tmpfs.ts'
import { waitUntil } from '../support/waiting.ts'

const SIZE = 200_000

let folder: string
let fake: SocketServer
let isSlow = true
let asked = 0

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-signals-'))
  isSlow = true
  asked = 0
  fake = serveFake(async (request) => {
    const { pathname } = new URL(request.url)
    if (request.method === 'POST') {
      asked += 1
      await Bun.sleep(120_000)
      return new Response()
    }
    if (pathname === '/file') return sendFile(request)
    if (pathname.endsWith('/preview')) return Response.json({ url: `${fake.url}/p/abcdefgh` })
    asked += 1
    const files = [{ filename: 'a', size: SIZE, url: `${fake.url}/file` }]
    return Response.json({ url_token: 'abcdefgh', payload: null, files, expired: false })
  })
})
afterEach(() => {
  fake.stop()
  rmSync(folder, { recursive: true, force: true })
})

function sendFile(request: Request): Response {
  const from = Number(/\d+/.exec(request.headers.get('range') ?? '0')?.[0])
  const rest = new Uint8Array(SIZE - from).fill(0x61)
  const status = from > 0 ? 206 : 200
  if (!isSlow) return new Response(rest, { status })
  const slow = new ReadableStream({
    start: (controller) => controller.enqueue(rest.subarray(0, SIZE / 2)),
  })
  return new Response(slow, { status })
}

function start(argv: string[], env: Record<string, string> = {}) {
  return Bun.spawn([BINARY, ...argv], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

async function untilPart(): Promise<void> {
  for (;;) {
    const part = readdirSync(folder).find((name) => name.endsWith('.part'))
    if (part !== undefined && readFileSync(join(folder, part)).length >= SIZE / 2) return
    await Bun.sleep(20)
  }
}

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)(
  '%s during a download explains how to resume, and the same command resumes',
  async (signal, code) => {
    const child = start(['get', `${fake.url}/p/abcdefgh`])
    await untilPart()
    child.kill(signal)
    expect(await child.exited).toBe(code)
    expect(await new Response(child.stderr).text()).toContain('the same command resumes from here')
    isSlow = false
    const second = start(['get', `${fake.url}/p/abcdefgh`])
    expect(await second.exited).toBe(0)
    expect(asked).toBe(1)
    expect(readFileSync(join(folder, 'a')).length).toBe(SIZE)
  },
  600_000,
)

test('interrupted before the answer, push says that the push may have been created', async () => {
  const child = start(['push', 'x', '--server', fake.url])
  await waitUntil(() => asked > 0)
  child.kill('SIGTERM')
  expect(await child.exited).toBe(143)
  expect(await new Response(child.stderr).text()).toContain('may have been created anyway')
}, 600_000)

// Regression: `end` of a stream after a failed write never returned, and used all the processor time.
test.skipIf(!existsSync('/dev/full'))(
  'a command whose output does not fit on a full disk says so, fails and ends',
  async () => {
    const spawned = (output: { stdout: number | 'pipe'; stderr: number | 'pipe' }) =>
      Bun.spawn([BINARY, 'version'], { stdin: 'ignore', ...output })
    const full = openSync('/dev/full', 'w')
    const child = spawned({ stdout: full, stderr: 'pipe' })
    expect(await child.exited).toBe(1)
    expect(await new Response(child.stderr as ReadableStream).text()).toContain('the disk is full')
    expect(await spawned({ stdout: full, stderr: full }).exited).toBe(1)
  },
  120_000,
)

needs('mount').test(
  'a text that does not fit on a full disk is printed, and no partial file is left',
  async () => {
    const payload = 'x'.repeat(SIZE)
    const texts = serveFake(() =>
      Response.json({ url_token: 'abcdefgh', payload, files: [], expired: false }),
    )
    const disk = mountSmallDisk('64k')
    try {
      const child = start(['get', `${texts.url}/p/abcdefgh`, '--output', join(disk.path, 'a.txt')])
      expect(await new Response(child.stdout).text()).toBe(payload)
      expect(await child.exited).toBe(0)
      expect(readdirSync(disk.path)).toEqual([])
    } finally {
      disk.remove()
      texts.stop()
    }
  },
  120_000,
)
