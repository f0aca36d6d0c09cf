// Hostile downloads: wrong lengths, ranges and redirects, and links to addresses near the client.

import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { checkLink, type NetworkZone, zoneOf } from '../../src/client/network-zones.ts'
import { cutOff, flood, MIB, pushOf, TOKEN, useHostileServers } from './hostile-servers.ts'

const { path, serve, serveRaw, run, withFile, getFile } = useHostileServers()

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
  }, 600_000)

  test('that is shorter than announced is not treated as complete', async () => {
    const got = await getFile(withFile(100, () => new Response(content(7))))
    expect(got.code).toBe(5)
    expect(existsSync(path('in/a'))).toBe(false)
  }, 600_000)

  test('larger than the disk is refused before it starts', async () => {
    let asked = 0
    const url = withFile(2 ** 52, () => {
      asked += 1
      return new Response('x')
    })
    expect(await getFile(url)).toMatchObject({ code: 1, err: expect.stringContaining('more than are free') })
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

  test('that receives only a few bytes at each attempt is given up', async () => {
    let tries = 0
    const url = withFile(1_000_000, () => {
      tries += 1
      return new Response(cutOff(content(10)))
    })
    expect((await getFile(url)).code).not.toBe(0)
    expect(tries).toBeLessThan(10)
  }, 600_000)

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
    checkLink(link, {
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
    await expect(step(server, link)).rejects.toThrow(why)
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

  test('through a proxy is refused for near addresses, and otherwise resolved by the proxy', async () => {
    await expect(step('http://unknown.example', 'http://127.0.0.1/x', true)).rejects.toThrow('nearer')
    expect(await step('http://unknown.example', 'http://other.example/x', true)).toEqual([])
  })

  test.each<[string, NetworkZone]>([
    ['::', 'loopback'],
    ['2002:7f00:1::', 'loopback'],
    ['fec0::1', 'private'],
    ['2001::1', 'special'],
    ['224.0.0.1', 'special'],
    ['8.8.8.8', 'public'],
  ])('%p is in the network %p', (address, place) => {
    expect(zoneOf(address)).toBe(place)
  })
})
