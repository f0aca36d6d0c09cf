// Files through the compiled binary: large files use little memory, and failed uploads leave no trace, even
// across kill -9.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { BINARY, makeFolder, removeFolder, runBinary, type Started, startBinary } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { sendRaw, thenLeave } from '../support/raw.ts'
import { mountSmallDisk } from '../support/tmpfs.ts'
import { waitUntil } from '../support/waiting.ts'

const MIB = 1024 * 1024
const BOUNDARY = 'oncebox-boundary'
const HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="push[files][]"; filename="big"\r\n\r\n`

let server: Started
let auth: { authorization: string }

async function start(options: Parameters<typeof startBinary>[0] = {}): Promise<void> {
  server = await startBinary(options)
  const run = (args: string[], input = '') => runBinary([...args, '--data-dir', server.dataDir], { input })
  await run(['user', 'add', 'ann@example.org', '--password-stdin'], 'long enough password')
  auth = { authorization: `Bearer ${(await run(['token', 'create', 'ann@example.org'])).stdout.trim()}` }
}

beforeEach(() => start())

afterEach(async () => {
  await server.end('SIGKILL')
  removeFolder(server.dataDir)
})

function stored(): string[] {
  const folder = join(server.dataDir, 'files')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

/** The size of a file in MiB: twice the memory that the server may use for two of them. */
const LARGE = 192

/** Streams a body with a file of `mebibytes`, never whole in memory. */
function bodyOf(mebibytes: number): ReadableStream<Uint8Array> {
  const chunk = Buffer.alloc(MIB, 'oncebox ')
  let sent = -1
  return new ReadableStream({
    pull(controller) {
      if (sent < 0) controller.enqueue(Buffer.from(HEAD))
      else if (sent < mebibytes) controller.enqueue(chunk)
      else {
        controller.enqueue(Buffer.from(`\r\n--${BOUNDARY}--\r\n`))
        controller.close()
      }
      sent += 1
    },
  })
}

async function upload(body: BodyInit): Promise<Response> {
  const headers = { ...auth, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  return fetch(`${server.url}/api/v2/pushes`, { method: 'POST', headers, body })
}

async function linkOf(response: Response): Promise<string> {
  expect(response.status).toBe(201)
  const { url_token } = await response.json()
  return (await (await server.retrieve(url_token)).json()).files[0].url
}

const residentMib = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024

test.skipIf(process.platform !== 'linux')('two large files at once use little memory', async () => {
  await linkOf(await upload(bodyOf(1)))
  const before = residentMib()
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, residentMib())
  }, 20)
  try {
    const links = await Promise.all([LARGE, LARGE].map((size) => upload(bodyOf(size)).then(linkOf)))
    for (const link of links) {
      let size = 0
      for await (const chunk of (await fetch(link)).body ?? []) size += chunk.length
      expect(size).toBe(LARGE * MIB)
    }
  } finally {
    clearInterval(watch)
  }
  expect(most - before).toBeLessThan(LARGE / 2)
})

test('an interrupted download resumes where it stopped, even after a restart', async () => {
  const link = await linkOf(await upload(bodyOf(20)))
  const abort = new AbortController()
  const first: Uint8Array[] = []
  const response = await fetch(link, { signal: abort.signal })
  const etag = response.headers.get('etag') ?? ''
  for await (const chunk of response.body ?? []) {
    first.push(chunk)
    if (Buffer.concat(first).length > 3 * MIB) break
  }
  abort.abort()
  const got = Buffer.concat(first)
  const { dataDir } = server
  await server.end('SIGKILL')
  server = await startBinary({ dataDir })
  const again = link.replace(/:\d+\//, `:${server.port}/`)
  const rest = await fetch(again, { headers: { range: `bytes=${got.length}-`, 'if-range': etag } })
  expect(rest.status).toBe(206)
  const whole = Buffer.concat([got, await rest.bytes()])
  expect(whole.equals(Buffer.alloc(20 * MIB, 'oncebox '))).toBe(true)
})

test('uploads that are aborted, too short or of a wrong length leave nothing behind', async () => {
  const head = (length: number) =>
    `POST /api/v2/pushes HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${auth.authorization}\r\n` +
    `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${length}\r\n\r\n${HEAD}`
  await sendRaw(server.port, [head(50 * MIB), 'x'.repeat(MIB)], thenLeave(100))
  await sendRaw(server.port, [head(HEAD.length), 'y'.repeat(MIB)], thenLeave(300))
  const short = await upload(`${HEAD}never ended`)
  expect(short.status).toBe(400)
  await waitUntil(() => stored().length === 0)
  expect((await fetch(`${server.url}/up`)).status).toBe(200)
})

test('the next start removes an upload that kill -9 interrupted', async () => {
  const kept = await linkOf(await upload(bodyOf(1)))
  let isBegun = false
  const endless = new ReadableStream({
    async pull(controller) {
      if (!isBegun) controller.enqueue(Buffer.from(HEAD))
      isBegun = true
      controller.enqueue(Buffer.alloc(MIB))
      await Bun.sleep(20)
    },
  })
  const uploading = upload(endless).catch(() => undefined)
  await waitUntil(() => stored().some((name) => name.endsWith('.part')))
  const { dataDir } = server
  await server.end('SIGKILL')
  await uploading
  expect(stored()).toHaveLength(2)
  server = await startBinary({ dataDir })
  await waitUntil(() => stored().length === 1)
  expect((await fetch(kept.replace(/:\d+\//, `:${server.port}/`))).status).toBe(200)
})

test('hundreds of small files are stored, downloaded and removed', async () => {
  const small = `${HEAD}small\r\n--${BOUNDARY}--\r\n`
  const tokens: string[] = []
  for (let i = 0; i < 20; i += 1) {
    const batch = await Promise.all(Array.from({ length: 25 }, () => upload(small)))
    for (const response of batch) tokens.push((await response.json()).url_token)
  }
  expect(stored()).toHaveLength(500)
  const remove = (urlToken: string) =>
    fetch(`${server.url}/api/v2/pushes/${urlToken}`, { method: 'DELETE', headers: auth })
  // A slow machine answers some of five hundred concurrent requests with 503: retry those.
  await Promise.all(
    tokens.map(async (urlToken) => {
      while ((await remove(urlToken)).status === 503) await Bun.sleep(200)
    }),
  )
  await waitUntil(() => stored().length === 0)
})

needs('mount').test('a full disk refuses an upload and keeps nothing of it', async () => {
  const disk = mountSmallDisk('24m')
  try {
    await server.end('SIGKILL')
    removeFolder(server.dataDir)
    await start({ dataDir: join(disk.path, 'data') })
    expect((await upload(bodyOf(40))).status).toBe(507)
    await waitUntil(() => stored().length === 0)
    expect((await upload(bodyOf(2))).status).toBe(201)
  } finally {
    await server.end('SIGKILL')
    disk.remove()
  }
})

/** Sends a request over an open connection, because the server cannot accept another one. */
async function askOver(socket: Socket, request: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let answer = ''
  const take = (chunk: Buffer) => {
    answer += chunk.toString('latin1')
    const [, length = '', body = ''] = /content-length: (\d+).*?\r\n\r\n(.*)/is.exec(answer) ?? []
    if (length !== '' && body.length >= Number(length)) resolve()
  }
  socket.on('data', take)
  socket.write(request)
  await promise
  socket.off('data', take)
  return answer
}

test.skipIf(process.platform === 'win32')(
  'a server at its limit of open files answers as busy until it may open more',
  async () => {
    await server.end('SIGKILL')
    removeFolder(server.dataDir)
    const folder = makeFolder()
    const binary = join(folder, 'limited')
    writeFileSync(binary, `#!/bin/sh\nulimit -n 64\nexec '${BINARY}' "$@"\n`, { mode: 0o700 })
    await start({ binary })
    const body = `${HEAD}x\r\n--${BOUNDARY}--\r\n`
    const { pathname, host } = new URL(await linkOf(await upload(body)))
    const download = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
    const type = `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${body.length}`
    const create = `POST /api/v2/pushes HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${auth.authorization}\r\n${type}\r\n\r\n${body}`
    const open = () => connect({ host: '127.0.0.1', port: server.port }).on('error', () => undefined)
    const socket = open()
    const others: Socket[] = []
    try {
      expect(await askOver(socket, download)).toStartWith('HTTP/1.1 200')
      await waitUntil(async () => {
        // The server closes idle connections after a while.
        others.push(...Array.from({ length: 20 }, open))
        return (await askOver(socket, download)).startsWith('HTTP/1.1 503')
      })
      const refused = await askOver(socket, create)
      expect(refused).toStartWith('HTTP/1.1 503')
      expect(refused).toMatch(/^retry-after: 5\r$/im)
      await server.untilLogged('LimitNOFILE')
      for (const other of others) other.destroy()
      await waitUntil(async () => (await askOver(socket, create)).startsWith('HTTP/1.1 201'))
      expect(await askOver(socket, download)).toStartWith('HTTP/1.1 200')
    } finally {
      for (const each of [socket, ...others]) each.destroy()
      removeFolder(folder)
    }
  },
)
