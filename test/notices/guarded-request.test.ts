// Outbound requests, and malicious receivers.

import { afterEach, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { type OutboundOptions, requestOutside } from '../../src/notices/guarded-request.ts'
import { testCertificate, testKey } from '../support/certificate.ts'

const servers: { close(): void }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

type Receiver = { port: number; connections: () => number; received: () => string }

function listen(server: Server, onSocket: (socket: Socket) => void): Promise<Receiver> {
  const sockets = new Set<Socket>()
  let [received, connections] = ['', 0]
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      received += bytes
    })
    onSocket(socket)
  })
  servers.push({
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      resolve({ port, connections: () => connections, received: () => received })
    }),
  )
}

/** Makes a receiver that answers each request with these bytes. */
const answering = (answer: string) =>
  listen(createServer(), (socket) => socket.once('data', () => socket.end(answer)))

function ask(
  url: string,
  options: Omit<Partial<OutboundOptions>, 'listed'> & Pick<OutboundOptions, 'listed'>,
  headers = {},
) {
  const request = { method: 'POST' as const, url, headers, body: '{"a":"ü"}' }
  const whole = { listAddresses: () => ['192.0.2.7'], ...options }
  return requestOutside(request, whole)
}

const local = (port: number, path = '/x') => `http://127.0.0.1:${port}${path}`
const askLocal = ({ port }: Receiver, options: Partial<OutboundOptions> = {}) =>
  ask(local(port), { listed: [`127.0.0.1:${port}`], ...options })

test('a request has the expected headers and body, and 2xx is a success', async () => {
  const receiver = await answering('HTTP/1.1 204 No Content\r\n\r\n')
  const { port } = receiver
  const listed = [`127.0.0.1:${port}`]
  expect(await ask(local(port, '/a b?c=d#e'), { listed }, { 'X-Y': 'line\r\nX-Evil: 1' })).toBeNull()
  expect(receiver.received()).toBe(
    [
      ...['POST /a%20b?c=d HTTP/1.1', `Host: 127.0.0.1:${port}`, 'User-Agent: Oncebox', 'Connection: close'],
      ...['Content-Type: application/json', 'Content-Length: 10', 'X-Y: lineX-Evil: 1', '', '{"a":"ü"}'],
    ].join('\r\n'),
  )
})

test.each([
  ['HTTP/1.1 200 OK\r\n\r\n', null],
  ['HTTP/1.0 202 \r\n', null],
  ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 201 Created\r\n\r\n', null],
  ['HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\n\r\n', 'redirected 301'],
  ['HTTP/1.1 404 Not Found\r\n\r\n', 'refused 404'],
  ['HTTP/1.1 500 Oops\r\n\r\n', 'receiver_failed 500'],
  ['HTTP/1.1 100 Continue\r\n\r\n', 'bad_answer'],
  ['HTTP/1.1 999 What\r\n\r\n', 'bad_answer'],
  ['SSH-2.0-OpenSSH_9.2\r\n', 'bad_answer'],
  ['HTTP/2 200 OK\r\n\r\n', 'bad_answer'],
  ['HTTP/1.1 2', 'bad_answer'],
  ['', 'bad_answer'],
] as const)('the answer %j has the outcome %p', async (answer, outcome) => {
  expect(await askLocal(await answering(answer))).toBe(outcome)
})

test('redirects are not followed', async () => {
  const inner = await answering('HTTP/1.1 200 OK\r\n\r\n')
  const outer = await answering(`HTTP/1.1 307 Go\r\nLocation: ${local(inner.port)}\r\n\r\n`)
  expect(await askLocal(outer, { listed: [`127.0.0.1:${outer.port}`, `127.0.0.1:${inner.port}`] })).toBe(
    'redirected 307',
  )
  expect(inner.connections()).toBe(0)
})

test('at most 1 KiB of an endless answer is read', async () => {
  let sent = 0
  const receiver = await listen(createServer(), (socket) => {
    const flood = () => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'x'))) sent += 65_536
    }
    socket.on('drain', flood)
    socket.once('data', flood)
  })
  expect(await askLocal(receiver)).toBe('bad_answer')
  expect(sent).toBeLessThan(64 * 1024 * 1024)
})

test('one deadline covers the whole exchange, whether the receiver hangs or dribbles', async () => {
  const hanging = await listen(createServer(), () => undefined)
  expect(await askLocal(hanging, { within: 200 })).toBe('timed_out')
  const dribbling = await listen(createServer(), (socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 20)
    socket.on('close', () => clearInterval(timer))
  })
  expect(['timed_out', 'bad_answer']).toContain((await askLocal(dribbling, { within: 200 })) ?? '')
  const nameless = new Promise<never>(() => undefined)
  expect(
    await ask('http://slow.example/', { listed: ['slow.example'], lookUp: () => nameless, within: 100 }),
  ).toBe('timed_out')
})

test('a host that is not listed, or no longer, is not resolved', async () => {
  let lookups = 0
  const lookUp = async () => {
    lookups += 1
    return ['127.0.0.1']
  }
  for (const url of [
    'http://hook.example/',
    'http://hook.example:81/',
    'ftp://a.example',
    'http://u@a.example/',
    '',
  ])
    expect(await ask(url, { listed: ['a.example'], lookUp })).toBe('not_allowed')
  expect(lookups).toBe(0)
})

test('a listed name that resolves to this machine gets no connection', async () => {
  const inner = await answering('HTTP/1.1 200 OK\r\n\r\n')
  const listed = [`hook.example:${inner.port}`]
  const url = `http://hook.example:${inner.port}/`
  for (const found of [
    ['127.0.0.1'],
    ['::1', '127.0.0.1'],
    ['::ffff:127.0.0.1'],
    ['0.0.0.0'],
    ['169.254.169.254'],
    ['x'],
  ])
    expect(await ask(url, { listed, lookUp: async () => found })).toBe('address_not_allowed')
  const own = { listAddresses: () => ['127.0.0.1', '192.168.7.7'] }
  expect(await ask(url, { listed, ...own, lookUp: async () => ['192.168.7.7'] })).toBe('address_not_allowed')
  const unknown = () => {
    throw new Error('EACCES')
  }
  expect(await ask(url, { listed, listAddresses: unknown, lookUp: async () => ['192.0.2.9'] })).toBe(
    'address_not_allowed',
  )
  expect(await ask(url, { listed, lookUp: async () => [] })).toBe('name_not_found')
  expect(await ask(url, { listed, lookUp: () => Promise.reject(new Error('ENOTFOUND')) })).toBe(
    'name_not_found',
  )
  expect(inner.connections()).toBe(0)
})

test('a name is resolved and checked once per request', async () => {
  const receiver = await answering('HTTP/1.1 200 OK\r\n\r\n')
  const addresses = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1']]
  let lookups = 0
  const options = {
    listed: [`hook.example:${receiver.port}`, `127.0.0.1:${receiver.port}`],
    lookUp: async () => addresses[lookups++] ?? [],
  }
  const url = `http://hook.example:${receiver.port}/`
  expect([await ask(url, options), await ask(url, options), await ask(url, options)]).toEqual([
    null,
    'address_not_allowed',
    null,
  ])
  expect(lookups).toBe(3)
  expect(receiver.connections()).toBe(2)
  expect(receiver.received()).toContain(`Host: hook.example:${receiver.port}`)
})

test('the next address is tried if one refuses the connection', async () => {
  const receiver = await answering('HTTP/1.1 200 OK\r\n\r\n')
  const { port } = receiver
  const lookUp = async () => ['::1', '127.0.0.1']
  const listed = [`hook.example:${port}`, `[::1]:${port}`, `127.0.0.1:${port}`]
  expect(await ask(`http://hook.example:${port}/`, { listed, lookUp })).toBeNull()
  servers.pop()?.close()
  expect(await ask(`http://hook.example:${port}/`, { listed, lookUp })).toBe('unreachable')
})

test('TLS is verified for the name of the URL, before a byte is sent', async () => {
  const server = createTlsServer({ cert: testCertificate, key: testKey }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      asked += 1
      socket.end('HTTP/1.1 200 OK\r\n\r\n')
    })
  })
  let asked = 0
  server.on('tlsClientError', () => undefined)
  const receiver = await listen(server, () => undefined)
  const listed = [`127.0.0.1:${receiver.port}`, `hook.example:${receiver.port}`]
  expect(await ask(`https://127.0.0.1:${receiver.port}/`, { listed })).toBe('tls_failed')
  expect(
    await ask(`https://hook.example:${receiver.port}/`, { listed, lookUp: async () => ['127.0.0.1'] }),
  ).toBe('tls_failed')
  const plain = await answering('HTTP/1.1 200 OK\r\n\r\n')
  expect(await ask(`https://127.0.0.1:${plain.port}/`, { listed: [`127.0.0.1:${plain.port}`] })).toBe(
    'tls_failed',
  )
  expect(asked).toBe(0)
})

test('proxies of the environment are not used', async () => {
  const proxy = await answering('HTTP/1.1 200 OK\r\n\r\n')
  const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY']
  for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`
  try {
    const receiver = await answering('HTTP/1.1 200 OK\r\n\r\n')
    expect(await askLocal(receiver)).toBeNull()
    expect([proxy.connections(), receiver.connections()]).toEqual([0, 1])
  } finally {
    for (const name of names) delete process.env[name]
  }
})

test('stopping the server aborts a running request', async () => {
  const receiver = await listen(createServer(), () => undefined)
  const stopping = new AbortController()
  const asking = requestOutside(
    { method: 'POST', url: local(receiver.port), headers: {}, body: '' },
    { listed: [`127.0.0.1:${receiver.port}`], listAddresses: () => [] },
    stopping.signal,
  )
  while (receiver.connections() === 0) await Bun.sleep(1)
  stopping.abort()
  expect(await asking).toBe('timed_out')
})
