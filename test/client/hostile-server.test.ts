// Hostile servers against the client commands, which must stay safe.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { createClient } from '../../src/client/client.ts'
import { checkStep, type Place, placeOf } from '../../src/client/places.ts'
import { createTrial } from '../cli/trial.ts'
import { serveFake } from '../support/socket.ts'

type Given = Parameters<typeof createTrial>[0]
type Answer = (request: Request) => Response | Promise<Response>

const GIB = 1024 ** 3
const MIB = 1024 ** 2
const PATIENCE_MS = 400
const TOKEN = 'abcdefgh'

let folder: string
const stops: (() => void)[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-hostile-'))
})
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
  rmSync(folder, { recursive: true, force: true })
})

const path = (name: string) => join(folder, name)

function serve(answer: Answer): string {
  const fake = serveFake(answer)
  stops.push(fake.stop)
  return fake.url
}

/** A server on raw sockets. Calls `talk` when a request arrives. */
async function serveRaw(talk: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => talk(socket))
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  stops.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}`
}

/** Writes without end, as fast as the client reads. */
function flood(socket: Socket, chunk: Buffer): void {
  const more = () => {
    while (!socket.destroyed) if (!socket.write(chunk)) return socket.once('drain', more)
  }
  more()
}

async function run(argv: string[], given: Given = {}) {
  const trial = createTrial({ home: folder, input: 'secret', ...given })
  // The same client, with less patience.
  trial.app.openClient = (asked) =>
    createClient({ ...asked, userAgent: 'test', patienceMs: PATIENCE_MS, newBoundary: () => 'boundary' })
  const code = await trial.run(...argv)
  return { code, out: trial.out.join('\n'), err: trial.err.join('\n'), all: trial.text() }
}

function pushOf(members: object): Response {
  return Response.json({ url_token: TOKEN, payload: null, files: [], expired: false, ...members })
}

/** The JSON of a push with one file at `url`, and the response for the file. */
function withFile(size: number | null, answer: Answer): string {
  const url: string = serve((request) => {
    if (new URL(request.url).pathname !== '/file')
      return pushOf({ files: [{ filename: 'a', size, url: `${url}/file` }] })
    return answer(request)
  })
  return url
}

const getFile = (url: string) => run(['get', `${url}/p/${TOKEN}`, '--output', path('in/')])

/** Characters that a terminal interprets, hides or reorders. */
const HARMFUL = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u
const HARM =
  '\u001b[2J\u001b]0;x\u0007\u009b31m\u202etxt\u2066\u200f\u061c\u200b\u2028\r\nNEXT\ttab\u007f\u0085'

describe('a push without content', () => {
  test.each([{ payload: null }, { payload: 5 }, { payload: '' }, {}])(
    'is not treated as an empty secret: %j',
    async (members) => {
      const url = serve(() => pushOf({ kind: 'text', ...members }))
      const { code, out, err } = await run(['get', `${url}/p/${TOKEN}`])
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toContain('holds nothing')
    },
  )

  test('a link that is not a web address is printed with a warning, because the view is spent', async () => {
    const url = serve(() => pushOf({ kind: 'url', payload: 'javascript:alert(1)' }))
    const { code, out, err } = await run(['get', `${url}/p/${TOKEN}`])
    expect({ code, out: out.trim() }).toEqual({ code: 0, out: 'javascript:alert(1)' })
    expect(err).toContain('Do not open it')
  })
})

describe('output on a terminal', () => {
  const terminal = { isOutputTerminal: true, env: { ONCEBOX_TOKEN: 'obx_x' } }

  test('contains no control characters, from any member of the response', async () => {
    const push = {
      url_token: TOKEN,
      ...{ html_url: `http://x/${HARM}`, kind: HARM, name: HARM, note: HARM, created_at: HARM },
      ...{ expired: true, expired_on: HARM, deleted: true, expires_at: HARM, payload: HARM },
    }
    const entry = { created_at: HARM, kind: HARM, ip: HARM, user_agent: HARM, referrer: HARM }
    const url = serve((request) => {
      const { pathname } = new URL(request.url)
      if (pathname.endsWith('/audit')) return Response.json({ logs: [entry] })
      if (/\/(active|expired)$/.test(pathname)) return Response.json([push])
      return Response.json(push, { status: request.method === 'POST' ? 201 : 200 })
    })
    for (const argv of [
      ['list'],
      ['list', '--expired'],
      ['audit', TOKEN],
      ['expire', TOKEN],
      ['push'],
      ['get', TOKEN],
    ])
      for (const json of [[], ['--json']]) {
        const { all } = await run([...argv, ...json, '--server', url], terminal)
        expect(all).not.toMatch(HARMFUL)
      }
    const { out } = await run(['list', '--server', url], { ...terminal, width: 100_000 })
    expect(out.split('\n')).toHaveLength(2)
  })

  test('keeps the lines of a text and the value of JSON', async () => {
    const url = serve(() => pushOf({ payload: `one\n${HARM}` }))
    const text = await run(['get', `${url}/p/${TOKEN}`], { isOutputTerminal: true })
    expect(text.out).toStartWith('one\n␛[2J')
    const json = await run(['get', `${url}/p/${TOKEN}`, '--json'], { isOutputTerminal: true })
    expect(JSON.parse(json.out).payload).toBe(`one\n${HARM}`)
  })

  test('a pipe gets the text unchanged', async () => {
    const url = serve(() => pushOf({ payload: HARM }))
    expect((await run(['get', `${url}/p/${TOKEN}`])).out).toBe(HARM)
  })

  test('errors and redirects are made printable and short', async () => {
    const long = `${HARM}${'x'.repeat(100_000)}`
    const answers = [
      () => Response.json({ error: long }, { status: 403 }),
      () => Response.json({ error: long }, { status: 401 }),
      () => Response.json({ error: 'internal-error', request_id: long }, { status: 500 }),
      () =>
        new Response('', { status: 302, headers: { location: `http://x/${'\u009b'}${'x'.repeat(5000)}` } }),
    ]
    for (const answer of answers) {
      const { code, err } = await run(['get', `${serve(answer)}/p/${TOKEN}`])
      expect(code).not.toBe(0)
      expect(err).not.toMatch(HARMFUL)
      expect(err.length).toBeLessThan(2000)
    }
  })

  test('a version is made printable', async () => {
    const url = serve(() => Response.json({ application_version: HARM, limits: {} }))
    const { code, err } = await run(['login', url, '--anonymous'])
    expect(code).toBe(0)
    expect(err).not.toMatch(HARMFUL)
  })
})

describe('links', () => {
  const created = (html_url: string) =>
    serve(() => Response.json({ url_token: TOKEN, html_url }, { status: 201 }))

  test.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'http://a:b@evil/',
    '//evil',
    'evil',
    `http://x/${'a'.repeat(5000)}`,
  ])('%j is not printed', async (link) => {
    for (const more of [[], ['--json'], ['--qr']]) {
      const { code, out, err } = await run(['push', '--server', created(link), ...more])
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toContain(TOKEN)
    }
    const list = serve(() => Response.json([{ url_token: TOKEN, html_url: link }]))
    const listed = await run(['list', '--server', list], { env: { ONCEBOX_TOKEN: 'obx_x' } })
    expect(listed.out).not.toContain(link)
    expect(listed.out).toContain(TOKEN)
  })

  test('a link from a second request is checked too', async () => {
    const url = serve((request) =>
      request.method === 'POST'
        ? Response.json({ url_token: TOKEN }, { status: 201 })
        : Response.json({ url: 'javascript:alert(1)' }),
    )
    expect(await run(['push', '--server', url])).toMatchObject({ code: 1, out: '' })
  })

  test('control characters are escaped in the link', async () => {
    const { code, out } = await run(['push', '--server', created(`http://x/p/${HARM}`)])
    expect(code).toBe(0)
    expect(out).not.toMatch(HARMFUL)
    expect(out.split('\n')).toHaveLength(1)
  })

  test('a token that is a path is refused', async () => {
    const asked: string[] = []
    const url = serve((request) => {
      asked.push(new URL(request.url).pathname)
      return Response.json({ url_token: '../../x?y', html_url: null }, { status: 201 })
    })
    expect((await run(['push', '--server', url])).code).toBe(1)
    expect(asked).toEqual(['/api/v2/pushes'])
  })
})

describe('endless responses', () => {
  const zeros = Buffer.alloc(64 * MIB)
  const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
  const bombs: [string, () => Uint8Array<ArrayBuffer>][] = [
    ['gzip', () => gzipSync(zeros)],
    ['deflate', () => deflateSync(zeros)],
    ['br', () => brotliCompressSync(zeros, quickly)],
    ['zstd', () => new Uint8Array(Bun.zstdCompressSync(zeros))],
  ]

  test.each(bombs)('compressed with %s are refused without decompressing', async (encoding, make) => {
    const bomb = make()
    const asked: (string | null)[] = []
    const answer = (request: Request) => {
      asked.push(request.headers.get('accept-encoding'))
      return new Response(bomb, { headers: { 'content-encoding': encoding } })
    }
    Bun.gc(true)
    const before = process.memoryUsage.rss()
    const json = await run(['get', `${serve(answer)}/p/${TOKEN}`])
    expect(json).toMatchObject({ code: 1, err: expect.stringContaining('compressed') })
    const file = await getFile(withFile(64 * MIB, answer))
    expect(file.code).toBe(1)
    expect(readdirSync(path('in'))).not.toContain('a')
    expect(new Set(asked)).toEqual(new Set(['identity']))
    expect(process.memoryUsage.rss() - before).toBeLessThan(48 * MIB)
  })

  test.each([
    ['announced', `HTTP/1.1 200 OK\r\nContent-Length: ${8 * GIB}\r\n\r\n{"payload":"`],
    ['chunked', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n{"payload":"'],
    ['until the connection ends', 'HTTP/1.1 200 OK\r\n\r\n{"payload":"'],
  ])(
    'of JSON, %s, are cut off',
    async (_, head) => {
      const url = await serveRaw((socket) => {
        socket.write(head)
        flood(socket, Buffer.alloc(MIB, 0x61))
      })
      const before = process.memoryUsage.rss()
      const got = await run(['get', `${url}/p/${TOKEN}`])
      expect(got).toMatchObject({ code: 1, err: expect.stringContaining('more than') })
      const listed = await run(['list', '--server', url], { env: { ONCEBOX_TOKEN: 'obx_x' } })
      expect(listed.code).toBe(1)
      expect(process.memoryUsage.rss() - before).toBeLessThan(400 * MIB)
    },
    20_000,
  )

  test.each([
    ['deep', '['.repeat(5 * MIB)],
    ['wide', `[${'[],'.repeat(5 * MIB)}1]`],
    ['named', '{"a":'.repeat(MIB)],
  ])('%s JSON is not parsed', async (_, body) => {
    const url = serve(() => new Response(body))
    const started = performance.now()
    const { code } = await run(['get', `${url}/p/${TOKEN}`, '--json'])
    expect(code).toBe(1)
    expect(performance.now() - started).toBeLessThan(3000)
  })

  test.each([
    ['says nothing', ''],
    ['stops within its head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['stops within its body', 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{'],
  ])('a server that %s is given up', async (_, words) => {
    const url = await serveRaw((socket) => socket.write(words))
    const started = performance.now()
    expect((await run(['get', `${url}/p/${TOKEN}`])).code).toBe(5)
    expect((await run(['push', '--server', url])).code).toBe(5)
    expect(performance.now() - started).toBeLessThan(10 * PATIENCE_MS)
  })

  test('a server that sends a byte now and then is given up', async () => {
    const url = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{')
      const timer = setInterval(() => socket.write(' '), PATIENCE_MS / 8)
      socket.on('close', () => clearInterval(timer))
    })
    const { code, err } = await run(['get', `${url}/p/${TOKEN}`])
    expect(code).toBe(5)
    expect(err).toContain('took too long')
  })

  test('too many files are refused', async () => {
    const files = Array.from({ length: 5000 }, (_, n) => ({ filename: `${n}`, size: 0, url: 'http://x/' }))
    expect(
      (await run(['get', `${serve(() => pushOf({ files }))}/p/${TOKEN}`, '--output', path('in/')])).code,
    ).toBe(1)
    expect(existsSync(path('in'))).toBe(false)
  })
})

describe('a download', () => {
  const content = (bytes: number) => new Uint8Array(bytes).fill(0x61)

  test('that is longer than announced is aborted and leaves no file', async () => {
    const got = await getFile(withFile(3, () => new Response(content(7))))
    expect(got).toMatchObject({ code: 1, err: expect.stringContaining('more than the 3 bytes') })
    expect(readdirSync(path('in'))).toEqual([])
  })

  test('without end is aborted at its announced size', async () => {
    const raw = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      flood(socket, Buffer.alloc(MIB))
    })
    const url = serve(() => pushOf({ files: [{ filename: 'a', size: 2 * MIB, url: `${raw}/file` }] }))
    expect((await getFile(url)).code).toBe(1)
    expect(readdirSync(path('in'))).toEqual([])
  })

  test('without end and without an announced size is aborted too', async () => {
    const raw = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      flood(socket, Buffer.alloc(MIB))
    })
    const url = serve(() => pushOf({ files: [{ filename: 'a', url: `${raw}/file` }] }))
    expect((await getFile(url)).code).toBe(1)
    expect(readdirSync(path('in'))).toEqual([])
  }, 20_000)

  test('that is shorter than announced is not treated as complete', async () => {
    const got = await getFile(withFile(100, () => new Response(content(7))))
    expect(got.code).toBe(5)
    expect(existsSync(path('in/a'))).toBe(false)
  }, 20_000)

  test('larger than the disk is refused before it starts', async () => {
    let asked = 0
    const url = withFile(2 ** 52, () => {
      asked += 1
      return new Response('x')
    })
    expect(await getFile(url)).toMatchObject({ code: 1, err: expect.stringContaining('room') })
    expect(asked).toBe(0)
  })

  test.each([
    ['begins elsewhere', (_: number) => 'bytes 0-99999/100000'],
    ['is of another file', (from: number) => `bytes ${from}-99/100`],
    ['is nonsense', () => 'x'],
  ])('whose second piece %s is refused', async (_, range) => {
    let tries = 0
    const url = withFile(100_000, (request) => {
      tries += 1
      if (tries === 1) return new Response(cutOff(content(50_000)))
      const from = Number(/\d+/.exec(request.headers.get('range') ?? '')?.[0])
      return new Response(content(50_000), { status: 206, headers: { 'content-range': range(from) } })
    })
    expect(await getFile(url)).toMatchObject({ code: 1, err: expect.stringContaining('not requested') })
    expect(readdirSync(path('in'))).toEqual([])
  })

  test('follows no redirect', async () => {
    const seen: string[] = []
    const elsewhere = serve((request) => {
      seen.push(request.url)
      return new Response('x')
    })
    const url = withFile(1, () => Response.redirect(`${elsewhere}/x`, 302))
    expect(await getFile(url)).toMatchObject({ code: 1, err: expect.stringContaining('not followed') })
    expect(seen).toEqual([])
  })

  test('that receives only a few bytes at each try is given up', async () => {
    let tries = 0
    const url = withFile(1_000_000, () => {
      tries += 1
      return new Response(cutOff(content(10)))
    })
    expect((await getFile(url)).code).not.toBe(0)
    expect(tries).toBeLessThan(10)
  }, 30_000)

  test('sends no token to any server', async () => {
    const seen: (string | null)[] = []
    const elsewhere = serve((request) => {
      seen.push(request.headers.get('authorization'), request.headers.get('x-push-passphrase'))
      return new Response('x')
    })
    const url = serve(() => pushOf({ files: [{ filename: 'a', size: 1, url: `${elsewhere}/x` }] }))
    const argv = ['get', TOKEN, '--server', url, '--output', path('in/')]
    expect((await run(argv, { env: { ONCEBOX_TOKEN: 'obx_x' } })).code).toBe(0)
    expect(seen).toEqual([null, null])
    expect(readFileSync(path('in/a'), 'utf8')).toBe('x')
  })
})

describe('a link of a server to another address', () => {
  const addresses: Record<string, string[]> = {
    'once.example': ['203.0.113.5'],
    'public.example': ['8.8.8.8'],
    'files.example': ['1.1.1.1', '2606:4700::1'],
    'rebound.example': ['1.1.1.1', '127.0.0.1'],
    'both.example': ['8.8.8.8', '127.0.0.1'],
    localhost: ['127.0.0.1'],
    nas: ['192.168.1.5', 'fe80::5'],
    printer: ['192.168.1.9'],
  }
  const step = (server: string, link: string, hasProxy = false) =>
    checkStep(link, {
      server,
      hasProxy,
      findAddresses: async (host) =>
        addresses[host] ?? (/^[\d.]+$|:/.test(host) ? [host.replace(/[[\]]/g, '')] : []),
    })

  test.each([
    ['https://public.example', 'http://public.example/x', 'not encrypted'],
    ['https://public.example', 'http://files.example/x', 'not encrypted'],
    ...[
      'http://127.0.0.1:5100/x',
      'http://localhost/x',
      'http://[::1]/x',
      'http://[::ffff:127.0.0.1]/x',
      'http://[64:ff9b::7f00:1]/x',
      'http://0.0.0.0/x',
      'http://2130706433/x',
      'http://0x7f.1/x',
      'http://169.254.169.254/latest/meta-data',
      'http://10.0.0.1/x',
      'http://192.168.1.1/x',
      'http://100.64.0.1/x',
      'http://[fd00::1]/x',
      'http://[fe80::1]/x',
      'http://nas/x',
      'http://rebound.example/x',
    ].map((link): [string, string, string] => ['http://public.example', link, 'nearer']),
    ['http://both.example', 'http://127.0.0.1/x', 'nearer'],
    ['http://unknown.example', 'http://127.0.0.1/x', 'nearer'],
    ['http://nas:5100', 'http://127.0.0.1/x', 'nearer'],
    ['http://printer', 'http://169.254.169.254/x', 'nearer'],
    ['http://127.0.0.1:5100', 'http://192.168.77.1/x', 'nearer'],
    ['http://127.0.0.1:5100', 'http://169.254.169.254/x', 'nearer'],
    ['http://public.example', 'http://unknown.example/x', 'name does not exist'],
  ])('from %p to %p is refused', async (server, link, why) => {
    expect(step(server, link)).rejects.toThrow(why)
  })

  test.each<[string, string, string[]]>([
    ['https://public.example', 'https://public.example/x', []],
    ['http://public.example', 'https://files.example/x', ['1.1.1.1', '2606:4700::1']],
    ['http://127.0.0.1:5100', 'http://127.0.0.1:5101/x', []],
    ['http://127.0.0.1:5100', 'http://localhost:5100/x', ['127.0.0.1']],
    ['http://nas:5100', 'http://printer/x', ['192.168.1.9']],
    ['http://nas:5100', 'http://192.168.1.77/x', []],
  ])('from %p to %p is followed', async (server, link, expected) => {
    expect(await step(server, link)).toEqual(expected)
  })

  test('through a proxy is refused for near addresses, and otherwise left to the proxy', async () => {
    expect(step('http://unknown.example', 'http://127.0.0.1/x', true)).rejects.toThrow('nearer')
    expect(await step('http://unknown.example', 'http://other.example/x', true)).toEqual([])
  })

  test.each<[string, Place]>([
    ['::', 'loopback'],
    ['2002:7f00:1::', 'loopback'],
    ['fec0::1', 'private'],
    ['2001::1', 'special'],
    ['224.0.0.1', 'special'],
    ['8.8.8.8', 'public'],
  ])('%p is in the network %p', (address, place) => {
    expect(placeOf(address)).toBe(place)
  })
})

/** Sends these bytes and then closes the connection. */
function cutOff(bytes: Uint8Array): ReadableStream {
  let sent = false
  return new ReadableStream({
    async pull(controller) {
      if (sent) {
        await Bun.sleep(50)
        return controller.error('cut off, as the test wants')
      }
      sent = true
      controller.enqueue(bytes)
    },
  })
}
