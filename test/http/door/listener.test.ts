// Sockets: the addresses of --host, of which all or none are bound; renewal of certificates; and the URLs of
// the server.

import { afterEach, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import { readCertificate } from '../../../src/crypto/certificate-facts.ts'
import { makeAuthority, makeLeaf } from '../../../src/crypto/certificates.ts'
import {
  type Binding,
  bindingsOf,
  type Listener,
  type ListenOptions,
  listen,
} from '../../../src/http/door/listener.ts'
import { urlsOf } from '../../../src/http/door/reachable.ts'
import { keepAsking } from '../../support/asking-client.ts'
import { freePort } from '../../support/free-port.ts'
import { sendRaw } from '../../support/raw.ts'
import { waitUntil } from '../../support/waiting.ts'

const nowhere = () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }))
const LOOPBACK: Binding[] = [{ address: '127.0.0.1' }]
const LOCALHOST: Binding[] = [{ address: '127.0.0.1' }, { address: '::1', mayBeMissing: true }]

const open: { stop(): unknown }[] = []
let isLeaving = false
afterEach(async () => {
  isLeaving = false
  for (const server of open.splice(0)) await server.stop()
})

function start(bindings: readonly Binding[], port = 0, more: Partial<ListenOptions> = {}): Listener {
  const listener = listen({
    handle: async (_, peer) => new Response(`ours, asked by ${peer}`),
    shed: () => null,
    bindings,
    port,
    tls: null,
    isLeaving: () => isLeaving,
    listAddresses: () => ['127.0.0.1', '::1'],
    ...more,
  })
  open.push(listener)
  return listener
}

function occupy(hostname: string, port: number): void {
  const server = Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response('theirs') })
  open.push({ stop: () => server.stop(true) })
}

const ask = async (url: string) => (await fetch(url)).text()

test.each<[string, string[]]>([
  ['localhost', ['127.0.0.1', '::1']],
  ['LocalHost', ['127.0.0.1', '::1']],
  ['127.0.0.1', ['127.0.0.1']],
  ['::1', ['::1']],
  ['0.0.0.0', ['0.0.0.0', '::1']],
  ['::', ['::']],
  ['192.0.2.7', ['192.0.2.7']],
])('--host %s stands for %j', async (host, addresses) => {
  expect((await bindingsOf(host, nowhere)).map(({ address }) => address)).toEqual(addresses)
})

test('a name stands for all of its addresses, each once, without link-local ones', async () => {
  const lookUp = async () => ['192.0.2.7', 'fe80::1', '2001:db8::7', '192.0.2.7']
  expect(await bindingsOf('nas', lookUp)).toEqual([{ address: '192.0.2.7' }, { address: '2001:db8::7' }])
})

test('the message for a name without an address says so, and not that a port is in use', async () => {
  const found = bindingsOf('no.such.name', nowhere)
  await expect(found).rejects.toThrow('The name no.such.name has no address here (ENOTFOUND)')
  await expect(found).rejects.toThrow('--host')
})

test('localhost listens on both loopback addresses on one free port, and a stop closes both', async () => {
  const listener = start(LOCALHOST)
  expect(await ask(`http://127.0.0.1:${listener.port}`)).toBe('ours, asked by 127.0.0.1')
  expect(await ask(`http://[::1]:${listener.port}`)).toBe('ours, asked by ::1')
  await listener.stop()
  for (const name of ['127.0.0.1', '[::1]'])
    await expect(ask(`http://${name}:${listener.port}`)).rejects.toThrow()
})

test('a server that is about to stop answers, and closes each connection after its next answer', async () => {
  let asked = 0
  const shed = () => {
    asked += 1
    isLeaving = asked > 1
    return null
  }
  const { port } = start(LOCALHOST, 0, { shed })
  const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
  function* parts() {
    yield request
    yield 200
    yield request
  }
  const kept = sendRaw(port, parts())
  const { statuses, closed, text } = await kept
  expect([statuses, closed]).toEqual([[200, 200], true])
  expect(text.match(/connection: close/gi)).toHaveLength(1)
})

test('a stop loses no request of busy clients: each is answered, or its connection refused', async () => {
  const handle = async () => {
    await Bun.sleep(1)
    return new Response('ours')
  }
  const listener = start(LOOPBACK, 0, { handle })
  const { port } = listener
  const asking = Array.from({ length: 8 }, () => keepAsking({ port, path: '/', end: 'ours' }))
  await Bun.sleep(300)
  await listener.stop()
  for (const { answered, ending, lost } of await Promise.all(asking)) {
    expect([ending, lost]).toEqual([1, 0])
    expect(answered).toBeGreaterThan(1)
  }
})

test('an answer that is ready after the stop has `connection: close`', async () => {
  const { promise: ready, resolve: finish } = Promise.withResolvers<void>()
  let asked = 0
  const handle = async (request: Request) => {
    if (!request.url.endsWith('/late')) return new Response('ours')
    asked += 1
    await ready
    return new Response('late')
  }
  const listener = start(LOOPBACK, 0, { handle })
  const answer = sendRaw(listener.port, ['GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n'])
  await waitUntil(() => asked === 1)
  const stopped = listener.stop()
  await waitUntil(() => ask(`http://127.0.0.1:${listener.port}`).then(isNever, () => true))
  finish()
  const { statuses, text } = await answer
  expect(statuses).toEqual([200])
  expect(text).toMatch(/connection: close/i)
  await stopped
})

const isNever = () => false
const DAY = 24 * 60 * 60 * 1000
const validity = { from: Date.now() - DAY, until: Date.now() + DAY }
const authority = await makeAuthority({ commonName: 'test', names: ['localhost'], validity })
const newLeaf = () => makeLeaf(authority, { names: ['localhost'], addresses: ['127.0.0.1'], validity })
const ca = authority.certificate

/** Resolves to the fingerprint of the certificate that a new connection gets. */
function servedBy(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ca }, () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    }).once('error', reject)
  })
}

/** Returns the number of sockets that listen on the port. Linux only. */
function listening(port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const lines = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/self/net/${name}`, 'utf8').split('\n'))
  return lines.filter((line) => new RegExp(`^ *\\d+: \\S+:${hex} \\S+ 0A `).test(line)).length
}

test.if(process.platform === 'linux')(
  'after a renewal only one socket listens, with the new certificate, and a download continues',
  async () => {
    const { promise: rest, resolve: finish } = Promise.withResolvers<string>()
    const handle = async (request: Request) => {
      if (!request.url.endsWith('/download')) return new Response('ours')
      const body = new ReadableStream({
        start: async (pieces) => {
          pieces.enqueue('the beginning')
          pieces.enqueue(await rest)
          pieces.close()
        },
      })
      return new Response(body)
    }
    const listener = start(LOOPBACK, 0, { handle, tls: await newLeaf() })
    const { port } = listener
    const download = await fetch(`https://127.0.0.1:${port}/download`, { tls: { ca } })
    for (let round = 0; round < 6; round += 1) {
      const leaf = await newLeaf()
      await listener.renew(leaf)
      const { fingerprint } = readCertificate(leaf.certificate)
      const served = await Promise.all(Array.from({ length: 40 }, () => servedBy(port)))
      expect([listening(port), ...new Set(served)]).toEqual([1, fingerprint])
    }
    finish(' and the rest')
    expect(await download.text()).toBe('the beginning and the rest')
  },
)

test('a renewal of the certificate loses no request of busy clients', async () => {
  const listener = start(LOOPBACK, 0, { handle: async () => new Response('ours'), tls: await newLeaf() })
  const { port } = listener
  let isOver = false
  const asking = Array.from({ length: 8 }, () =>
    keepAsking({ port, path: '/', end: 'ours', tls: { ca }, isOver: () => isOver }),
  )
  await Bun.sleep(300)
  await listener.renew(await newLeaf())
  await Bun.sleep(300)
  isOver = true
  for (const { ending, lost } of await Promise.all(asking)) expect([ending, lost]).toEqual([1, 0])
})

test('if the new certificate cannot be served, the old one stays', async () => {
  const leaf = await newLeaf()
  const listener = start(LOOPBACK, 0, { tls: leaf })
  await expect(listener.renew({ ...leaf, key: 'no key' })).rejects.toThrow()
  expect(await servedBy(listener.port)).toBe(readCertificate(leaf.certificate).fingerprint)
  const kept = await fetch(`https://127.0.0.1:${listener.port}`, { tls: { ca } })
  expect(kept.headers.get('connection')).not.toBe('close')
})

test('a stop during a renewal leaves nothing listening', async () => {
  const listener = start(LOOPBACK, 0, { tls: await newLeaf() })
  const renewed = listener.renew(await newLeaf())
  await listener.stop()
  await renewed
  await expect(servedBy(listener.port)).rejects.toThrow()
})

test.each([
  ['127.0.0.1', '[::1]'],
  ['::1', '127.0.0.1'],
  ['::', null],
  ['0.0.0.0', '[::1]'],
])(
  'a port that another program has on %s is refused, and nothing is left listening',
  async (taken, other) => {
    const port = freePort()
    occupy(taken, port)
    let refusal: unknown
    try {
      start(LOCALHOST, port)
    } catch (cause) {
      refusal = cause
    }
    expect(refusal).toMatchObject({ code: 'EADDRINUSE', syscall: 'listen' })
    if (other !== null) await expect(ask(`http://${other}:${port}`)).rejects.toThrow()
  },
)

test('no other program can bind either address meanwhile', () => {
  const { port } = start(LOCALHOST)
  for (const address of ['127.0.0.1', '::1', '0.0.0.0', '::'])
    expect(() => occupy(address, port)).toThrow(String(port))
})

test('only a binding with mayBeMissing skips an address that the machine lacks', async () => {
  const absent = '2001:db8::1'
  const listener = start([{ address: '127.0.0.1' }, { address: absent, mayBeMissing: true }])
  expect(listener.addresses).toEqual(['127.0.0.1'])
  expect(() => start([{ address: '127.0.0.1' }, { address: absent }])).toThrow(absent)
})

const OWN = ['127.0.0.1', '::1', 'fe80::1', 'fd00::7', '203.0.113.9', '192.168.1.20']
const LAN = ['http://192.168.1.20:80', 'http://203.0.113.9:80']

test.each<[string, string[], string, string, string[]]>([
  ['localhost', ['127.0.0.1', '::1'], 'http://localhost:80', 'http://localhost:80', []],
  ['localhost', ['127.0.0.1'], 'http://127.0.0.1:80', 'http://127.0.0.1:80', []],
  ['127.0.0.1', ['127.0.0.1'], 'http://127.0.0.1:80', 'http://127.0.0.1:80', []],
  ['::1', ['::1'], 'http://[::1]:80', 'http://[::1]:80', []],
  ['0.0.0.0', ['0.0.0.0', '::1'], 'http://0.0.0.0:80', 'http://localhost:80', LAN],
  ['0.0.0.0', ['0.0.0.0'], 'http://0.0.0.0:80', 'http://127.0.0.1:80', LAN],
  ['::', ['::'], 'http://[::]:80', 'http://localhost:80', [...LAN, 'http://[fd00::7]:80']],
  ['192.168.1.20', ['192.168.1.20'], 'http://192.168.1.20:80', 'http://192.168.1.20:80', [LAN[0] ?? '']],
  ['nas', ['192.168.1.20', 'fd00::7'], 'http://nas:80', 'http://nas:80', ['http://nas:80']],
])('--host %s bound to %j has the url %s, hereUrl %s and elsewhere %j', (host, addresses, ...urls) => {
  const [url, hereUrl, elsewhere] = urls
  const found = urlsOf({ addresses, port: 80, scheme: 'http' }, { host, listAddresses: () => OWN })
  expect(found).toEqual({ url, hereUrl, elsewhere })
})

test('a machine whose addresses cannot be listed still has its URLs', () => {
  const listAddresses = () => {
    throw new Error('not permitted')
  }
  const found = urlsOf(
    { addresses: ['0.0.0.0'], port: 80, scheme: 'http' },
    { host: '0.0.0.0', listAddresses },
  )
  expect(found).toEqual({ url: 'http://0.0.0.0:80', hereUrl: 'http://127.0.0.1:80', elsewhere: [] })
})
