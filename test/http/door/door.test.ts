// The front door's pure parts: addresses, names, paths.

import { describe, expect, test } from 'bun:test'
import { isDomainError } from '../../../src/domain/errors.ts'
import { createForwarding } from '../../../src/http/door/client-address.ts'
import type { Asker } from '../../../src/http/door/host.ts'
import { createHostRules, type HostRules } from '../../../src/http/door/host.ts'
import { canonicalPath, pathOf } from '../../../src/http/door/paths.ts'

const forwarded = (headers: Record<string, string>) => new Headers(headers)
const forwardedBy = (headers: Record<string, string>) => ({ headers: forwarded(headers) })
const ignore = () => undefined
const NETWORK = { host: '::', addresses: ['::'] }

test.each([
  ['a stranger is not believed', '203.0.113.9', { 'x-forwarded-for': '1.2.3.4' }, '203.0.113.9'],
  ['a trusted proxy is', '10.0.0.1', { 'x-forwarded-for': '1.2.3.4' }, '1.2.3.4'],
  [
    'the nearest untrusted hop is the client, whatever its header claims',
    '10.0.0.1',
    { 'x-forwarded-for': '6.6.6.6, 1.2.3.4' },
    '1.2.3.4',
  ],
  ['trusted hops are passed over', '10.0.0.1', { 'x-forwarded-for': '1.2.3.4, 10.9.9.9' }, '1.2.3.4'],
  ['a hop with its port is one', '10.0.0.1', { 'x-forwarded-for': '1.2.3.4:50112' }, '1.2.3.4'],
  ['also of IPv6', '10.0.0.1', { 'x-forwarded-for': '[2001:db8::7]:50112' }, '2001:db8::7'],
  ['and without one', '10.0.0.1', { 'x-forwarded-for': '2001:db8::7, [2001:db8::8]' }, '2001:db8::8'],
  ['nonsense ends the walk', '10.0.0.1', { 'x-forwarded-for': '1.2.3.4, nonsense' }, '10.0.0.1'],
  ['an interface is left out', '10.0.0.1', { 'x-forwarded-for': 'fe80::1%eth0' }, 'fe80::1'],
  [
    'an overlong hop is ignored',
    '10.0.0.1',
    { 'x-forwarded-for': `fe80::1%${'x'.repeat(9_000)}` },
    '10.0.0.1',
  ],
  ['without a header it is the proxy itself', '10.0.0.1', {}, '10.0.0.1'],
  ['IPv4 on an IPv6 socket is IPv4', '::ffff:10.0.0.1', { 'x-forwarded-for': '1.2.3.4' }, '1.2.3.4'],
])('%s', (_, peer, headers, expected) => {
  const { read } = createForwarding(['10.0.0.0/8', '::1'], ignore)
  expect(read(peer, forwarded(headers)).address).toBe(expected)
})

test('scheme and host come only from a trusted proxy', () => {
  const { read } = createForwarding(['127.0.0.1'], ignore)
  const headers = forwarded({ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'once.example' })
  expect(read('127.0.0.1', headers)).toMatchObject({ scheme: 'https', host: 'once.example' })
  expect(read('192.0.2.1', headers)).toMatchObject({ scheme: null, host: null })
  expect(read('127.0.0.1', forwarded({ 'x-forwarded-proto': 'gopher' }))).toMatchObject({ scheme: null })
})

test('an undeclared proxy of this machine is reported once, with the flag', () => {
  const warnings: string[] = []
  const { read, listUndeclaredProxies } = createForwarding(['10.0.0.0/8'], (warning) =>
    warnings.push(warning),
  )
  const headers = forwarded({ 'x-forwarded-for': '203.0.113.9' })
  read('127.0.0.1', forwarded({}))
  read('192.0.2.1', headers)
  read('10.0.0.1', headers)
  expect([warnings, listUndeclaredProxies()]).toEqual([[], []])
  for (const peer of ['::ffff:127.0.0.1', '127.0.0.1', '::1'])
    expect(read(peer, headers)).toMatchObject({ isTrusted: false, scheme: null })
  expect(warnings).toEqual([expect.stringContaining('Start with --trusted-proxy 127.0.0.1 ')])
  expect(listUndeclaredProxies()).toEqual(['127.0.0.1', '::1'])
})

test.each([
  'localhost',
  'localhost:5100',
  '127.0.0.1',
  '[::1]:5100',
  '192.168.1.9:80',
  'nas',
  'nas:5100',
  'pi.local',
  'Once.Example',
  'once.example:8443',
])('a server on the network answers to %p', (host) => {
  const rules = createHostRules({ baseUrl: 'https://once.example/box', ...NETWORK })
  expect(() => rules.check(host, { isFromProxy: false })).not.toThrow()
})

test.each([
  null,
  '',
  'evil.example',
  'once.example.evil.org',
  'localhost.evil.org',
  '.local',
  'a b',
  'x@localhost',
  'localhost/',
  'pi.local.evil.org',
  '127.0.0.1.evil.org',
])('it refuses %p', (host) => {
  for (const addresses of [['::'], ['127.0.0.1', '::1']]) {
    const rules = createHostRules({ baseUrl: 'https://once.example', host: 'localhost', addresses })
    expect(() => rules.check(host, { isFromProxy: true })).toThrow('--base-url')
    expect(() => rules.check(host, { isFromProxy: false })).toThrow('--base-url')
  }
})

describe.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1', 'localhost', 'LocalHost'])(
  'on loopback as %p',
  (host) => {
    const rules = createHostRules({ baseUrl: 'https://once.example', host, addresses: [host] })
    const names = ['nas', 'nas:5100', 'pi.local', '192.168.1.9', '0.0.0.0:5100', '[::]:5100', '[fe80::1]']

    test.each([
      ...['localhost', 'LOCALHOST:5100', 'localhost.', 'box.localhost:5100', '127.0.0.1', '127.1.2.3:5100'],
      ...[
        '[::1]',
        '[::1]:5100',
        '[0:0:0:0:0:0:0:1]',
        '[::ffff:127.0.0.1]:80',
        'once.example',
        'Once.Example:8443',
      ],
    ])('a server on loopback answers to %p', (host) => {
      expect(() => rules.check(host, { isFromProxy: false })).not.toThrow()
    })

    test.each(names)('it refuses %p, except from a trusted proxy', (host) => {
      expect(() => rules.check(host, { isFromProxy: false })).toThrow('--trusted-proxy')
      expect(() => rules.check(host, { isFromProxy: true })).not.toThrow()
    })
  },
)

describe('a refusal names the host and the flags for it', () => {
  const network = createHostRules({ baseUrl: null, ...NETWORK })
  const loopback = createHostRules({ baseUrl: null, host: 'localhost', addresses: ['127.0.0.1'] })
  const below = createHostRules({ baseUrl: 'https://once.example/box', ...NETWORK })

  function refusalOf(rules: HostRules, host: string, from: Partial<Asker> = {}) {
    try {
      rules.check(host, { isFromProxy: false, clientAddress: '192.0.2.1', ...from })
    } catch (cause) {
      if (isDomainError(cause, 'unknown_host')) return { ...cause.details.host, message: cause.message }
    }
    throw new Error(`${host} was not refused`)
  }

  test.each<[string, HostRules, string, Partial<Asker>, string]>([
    ['a name of the network', network, 'nas.lan:5100', {}, '--base-url http://nas.lan:5100'],
    ['in capitals', network, 'NAS.home.arpa:5100', {}, '--base-url http://nas.home.arpa:5100'],
    ['the port of http', network, 'nas.lan:80', {}, '--base-url http://nas.lan'],
    ['a sub-path', below, 'nas.lan', {}, '--base-url http://nas.lan/box'],
    ['on loopback', loopback, 'nas.lan:5100', {}, '--base-url http://nas.lan:5100'],
    [
      'an undeclared proxy',
      loopback,
      'once.lan',
      {
        clientAddress: '127.0.0.1',
        request: forwardedBy({ 'x-forwarded-for': '192.0.2.9', 'x-forwarded-proto': 'https' }),
      },
      '--base-url https://once.lan --trusted-proxy 127.0.0.1',
    ],
    [
      'a trusted proxy',
      network,
      'once.lan',
      { isFromProxy: true, scheme: 'https', request: forwardedBy({ 'x-forwarded-for': '192.0.2.9' }) },
      '--base-url https://once.lan',
    ],
  ])('%s', (_, rules, host, from, flags) => {
    const refusal = refusalOf(rules, host, from)
    expect(refusal.flags).toBe(flags)
    expect(refusal.message).toContain(flags)
    expect(refusal.message).toContain(`the name ${host.toLowerCase().replace(/:\d+$/, '')}`)
  })

  test.each([
    '<script>.lan',
    'nas.lan"',
    'nas.lan --accept-clock',
    'a;b.lan',
    'x'.repeat(300),
    'nas.lan:999999',
  ])('unless it is not a plain name: %p', (host) => {
    const { message, ...details } = refusalOf(network, host)
    expect(details).toEqual({})
    expect(message).not.toContain(host.slice(0, 6))
    expect(message).toContain('--base-url')
  })
})

test('only loopback names are accepted', () => {
  const rules = createHostRules({ baseUrl: null, host: 'MyBox', addresses: ['127.0.1.1'] })
  expect(() => rules.check('mybox:5100', { isFromProxy: false })).not.toThrow()
  expect(() => rules.check('nas:5100', { isFromProxy: false })).toThrow('--base-url')
})

test.each([
  ['/api/v2/pushes', '', '/api/v2/pushes'],
  ['/api/v2/pushes.json', '', '/api/v2/pushes'],
  ['//api///v2//version/', '', '/api/v2/version'],
  ['/api/v2/openapi.json', '', '/api/v2/openapi.json'],
  ['/p/token.json', '', '/.json/p/token'],
  ['/en/p.json', '', '/.json/p'],
  ['/pt-BR/f/token/audit.json', '', '/.json/f/token/audit'],
  ['/box//r/active.json/', '/box', '/.json/r/active'],
  ['/.json/p/token', '', '/.json'],
  ['/.jsonp', '', '/.json'],
  ['/x/token.json', '', '/x/token.json'],
  ['/p/token', '', '/p/token'],
  ['/api/v1/version.json', '', '/api/v1/version'],
  ['/', '', '/'],
  ['//', '', '/'],
  ['/box/api/v2/version', '/box', '/api/v2/version'],
  ['/box', '/box', '/'],
  ['/en', '', '/.locale/en'],
  ['/pt-BR/p/token', '', '/.locale/pt-BR/p/token'],
  ['/.locale/en', '', '/.locale'],
  ['/up', '', '/up'],
  ['/english', '', '/english'],
  ['/box/', '/box', '/'],
  ['/boxes', '/box', '/boxes'],
  ['/api/v2/version', '/box', '/api/v2/version'],
])('%p under %p is %p', (path, base, expected) => {
  expect(canonicalPath(path, base)).toBe(expected)
})

test.each(['localhost:99999', '[::1]:70000', '[1::2::3]', '09', '999999999999'])(
  'a Host that no URL can hold, %p, is refused',
  (host) => {
    const rules = createHostRules({ baseUrl: null, host: '0.0.0.0', addresses: ['0.0.0.0'] })
    expect(() => rules.check(host, { isFromProxy: false })).toThrow('does not answer')
  },
)

test('paths are found in whole URLs and in those without a host', () => {
  expect(pathOf('http://nas/api?x=/y')).toBe('/api')
  expect(pathOf('http://nas?x=1')).toBe('/')
  expect(pathOf('/api/v2/version?x')).toBe('/api/v2/version')
})
