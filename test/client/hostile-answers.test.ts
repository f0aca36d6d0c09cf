// Hostile answers to the client commands: contents, links, control characters and endless bodies.

import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { readOwnPushes } from '../../src/client/own-pushes.ts'
import { startStopwatch, workedMs } from '../support/effort.ts'
import {
  flood,
  GIB,
  HARM,
  HARMFUL,
  LITTLE_PATIENCE_MS,
  MIB,
  pushOf,
  TOKEN,
  useHostileServers,
} from './hostile-servers.ts'

const { path, serve, serveRaw, run, withFile, getFile } = useHostileServers()

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

  test('a link that is not a web address is printed with a warning, because the view is used up', async () => {
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

describe('names and links of files', () => {
  const fileOf = (filename: string, link?: string) => {
    const url: string = serve((request) =>
      new URL(request.url).pathname === '/file'
        ? new Response('hello')
        : pushOf({ files: [{ filename, size: 5, url: link ?? `${url}/file` }] }),
    )
    return url
  }

  test.each(['.', ' ', '\u0301\u0316', '\ufffd', '/'])(
    'a name of 300,000 times %j is saved at once',
    async (run) => {
      const began = workedMs()
      const { code, err } = await getFile(fileOf(`x${run.repeat(300_000)}x.txt`))
      expect(code).toBe(0)
      expect(err.length).toBeLessThan(1000)
      expect(readdirSync(path('in')).filter((name) => name.endsWith('.txt'))).toHaveLength(1)
      // Takes tenths of a second on an idle machine; a parse of the whole link would take minutes.
      expect(workedMs() - began).toBeLessThan(5000)
    },
  )

  test.each([
    `http://a${'\u0301\u0316'.repeat(40_000)}/`,
    `http://${'é.'.repeat(100_000)}`,
    `http://127.0.0.1/${'a'.repeat(10_000)}`,
  ])('a link with a long host or path is not followed (%#)', async (link) => {
    const began = workedMs()
    const { code, err } = await getFile(fileOf('a', link))
    expect({ code, isTold: err.includes('without a web address') }).toEqual({ code: 1, isTold: true })
    expect(workedMs() - began).toBeLessThan(5000)
  })

  test('a list of files in a string is checked the same way', async () => {
    const { code } = await getFile(serve(() => pushOf({ files: '['.repeat(MIB) })))
    expect(code).toBe(1)
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
    600_000,
  )

  test.each([
    ['deep', '['.repeat(5 * MIB)],
    ['wide', `[${'[],'.repeat(5 * MIB)}1]`],
    ['named', '{"a":'.repeat(MIB)],
  ])('%s JSON is not parsed', async (_, body) => {
    const url = serve(() => new Response(body))
    const began = workedMs()
    const { code } = await run(['get', `${url}/p/${TOKEN}`, '--json'])
    expect(code).toBe(1)
    // Takes two tenths of a second on an idle machine; parsing would take minutes.
    expect(workedMs() - began).toBeLessThan(30_000)
  })

  test.each([
    ['says nothing', ''],
    ['stops within its head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['stops within its body', 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{'],
  ])('the client gives up on a server that %s', async (_, words) => {
    const url = await serveRaw((socket) => socket.write(words))
    const stop = startStopwatch()
    const impatient = { patienceMs: LITTLE_PATIENCE_MS }
    expect((await run(['get', `${url}/p/${TOKEN}`], impatient)).code).toBe(5)
    expect((await run(['push', '--server', url], impatient)).code).toBe(5)
    // Takes two seconds on an idle machine.
    expect(stop()).toBeLessThan(20_000)
  })

  test('the client gives up on a server that trickles bytes', async () => {
    const url = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{')
      const timer = setInterval(() => socket.write(' '), LITTLE_PATIENCE_MS / 8)
      socket.on('close', () => clearInterval(timer))
    })
    const { code, err } = await run(['get', `${url}/p/${TOKEN}`], { patienceMs: LITTLE_PATIENCE_MS })
    expect(code).toBe(5)
    expect(err).toContain('took too long')
  })

  test('the client gives up on an endless list', async () => {
    const report = { pushes: 0, damagedPushes: 0, damagedLogs: 0 }
    const list = async () => ({ pushes: [], leftOut: 50, members: [], answer: [] })
    const audit = async () => ({ entries: [], members: [], answer: {} })
    const readAll = async () => {
      for await (const _ of readOwnPushes({ list, audit }, report));
    }
    await expect(readAll()).rejects.toThrow('without end')
  })

  test('too many files are refused', async () => {
    const files = Array.from({ length: 5000 }, (_, n) => ({ filename: `${n}`, size: 0, url: 'http://x/' }))
    expect(
      (await run(['get', `${serve(() => pushOf({ files }))}/p/${TOKEN}`, '--output', path('in/')])).code,
    ).toBe(1)
    expect(existsSync(path('in'))).toBe(false)
  })
})

test('a success status that this API does not use is reported', async () => {
  const url = serve(() => pushOf({ html_url: 'http://x/p/abcdefgh' }))
  const { code, err } = await run(['push', '--server', url, 'x'])
  expect(code).toBe(1)
  expect(err).toContain('HTTP 200 where this API answers 201')
})

test('a version that is not text is not reported as a bug of the client', async () => {
  const version = { toString: 1, valueOf: 1 }
  const url = serve(() => Response.json({ application_version: version, limits: {} }))
  const { code, err } = await run(['login', url, '--anonymous'])
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('Oncebox unknown') })
})

test('a link without a host is not called unencrypted when the server is plain http as well', async () => {
  const url = serve(() => Response.json({ url_token: TOKEN, html_url: 'http://[' }, { status: 201 }))
  const { code, err } = await run(['push', '--server', url])
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('not a plain web address') })
})
