// Tests which addresses are offered in place of localhost, and to which clients.

import { expect, test } from 'bun:test'
import type { Exchange } from '../../src/http/door/exchange.ts'
import { createFindElsewhere } from '../../src/pages/frame/reach.ts'

const MACHINE = ['127.0.0.1', '::1', 'fe80::1', '169.254.3.4', '192.0.2.2', 'fd00::2', '192.168.1.20']
const EVERYWHERE = ['0.0.0.0', '::1']

type Asked = Partial<Pick<Exchange, 'host' | 'scheme' | 'isFromProxy' | 'clientAddress'>>

type Given = { baseUrl?: string; addresses?: string[]; machine?: string[] }

function find(asked: Asked, { baseUrl, addresses = EVERYWHERE, machine = MACHINE }: Given = {}) {
  const findElsewhere = createFindElsewhere({
    baseUrl: baseUrl ?? null,
    addresses,
    listAddresses: () => machine,
  })
  const request = new Request('http://localhost')
  return findElsewhere({
    ...{ request, path: '/', isHead: false, requestId: 'x', route: '/', baseUrl: 'http://localhost' },
    ...{ linkBase: 'http://localhost', isOutside: false },
    ...{
      host: 'localhost:5100',
      scheme: null,
      clientAddress: '127.0.0.1',
      isFromProxy: false,
      stayOpen: () => undefined,
      makeRoom: () => undefined,
      ...{ heldBytes: 0, startedAt: 0, endBody: null },
    },
    ...asked,
  })
}

test.each([
  'localhost:5100',
  'LOCALHOST:5100',
  'box.localhost:5100',
  '127.0.0.1:5100',
  '127.8.9.1:5100',
  '[::1]:5100',
  '0.0.0.0:5100',
  '[::]:5100',
])('for %s it is an address of the local network first, with the port of the request', (host) => {
  const { origins, flag } = find({ host }) ?? {}
  expect({ origins, flag }).toEqual({
    origins: ['http://192.168.1.20:5100', 'http://192.0.2.2:5100'],
    flag: null,
  })
})

test.each(['192.168.1.20:5100', 'nas:5100', 'nas.local', 'localhost.evil.org', '', null])(
  'links to %j work from other machines',
  (host) => {
    expect(find({ host })).toBeNull()
  },
)

test('a server bound to localhost names the flag that opens it, and one with a base URL shows no warning', () => {
  const closed = { host: 'localhost:5100', origins: [], flag: '--host 0.0.0.0' }
  expect(find({}, { addresses: ['127.0.0.1', '::1'] })).toEqual(closed)
  expect(find({}, { addresses: ['localhost'] })).toEqual(closed)
  expect(find({ isFromProxy: true }, { addresses: ['localhost'] })?.flag).toStartWith('--base-url ')
  expect(find({ host: 'once.example', isFromProxy: true }, { addresses: ['localhost'] })).toBeNull()
  expect(find({}, { baseUrl: 'https://once.example' })).toBeNull()
  expect(find({ host: 'once.example' }, { baseUrl: 'http://localhost:5100/box' })).toMatchObject({
    host: 'localhost:5100',
    flag: expect.stringContaining('--base-url '),
  })
})

test('only addresses that the server listens on are offered', () => {
  expect(find({}, { addresses: ['::'] })?.origins).toEqual([
    'http://192.168.1.20:5100',
    'http://192.0.2.2:5100',
    'http://[fd00::2]:5100',
  ])
  expect(find({}, { addresses: ['192.0.2.2'] })?.origins).toEqual(['http://192.0.2.2:5100'])
  expect(find({ host: 'localhost' })?.origins).toEqual(['http://192.168.1.20', 'http://192.0.2.2'])
})

test('if this server speaks TLS, the offered addresses do too', () => {
  expect(find({ scheme: 'https' })?.origins[0]).toBe('https://192.168.1.20:5100')
})

test('behind a proxy or a container port the warning offers no address', () => {
  expect(find({ scheme: 'http', isFromProxy: true })?.origins).toEqual([])
  expect(find({ isFromProxy: true })?.origins).toEqual([])
  expect(find({ clientAddress: '172.17.0.1' })?.origins).toEqual([])
  expect(find({ clientAddress: '192.168.1.20' })?.origins).not.toEqual([])
  expect(find({}, { machine: [] })?.origins).toEqual([])
})

test('a system that cannot list its addresses does not break the page', () => {
  const listAddresses = () => {
    throw new Error('EPERM')
  }
  const findElsewhere = createFindElsewhere({ baseUrl: null, addresses: EVERYWHERE, listAddresses })
  const request = new Request('http://localhost')
  const exchange: Exchange = {
    ...{ request, path: '/', isHead: false, requestId: 'x', route: '/', baseUrl: 'http://localhost' },
    ...{ linkBase: 'http://localhost', isOutside: false },
    ...{
      host: 'localhost',
      scheme: null,
      clientAddress: '127.0.0.1',
      isFromProxy: false,
      stayOpen: () => undefined,
      makeRoom: () => undefined,
      ...{ heldBytes: 0, startedAt: 0, endBody: null },
    },
  }
  expect(findElsewhere(exchange)?.origins).toEqual([])
})
