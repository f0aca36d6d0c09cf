// CSRF protection: the server's own origins, other sites, and listed origins.

import { describe, expect, test } from 'bun:test'
import { createCors } from '../../../src/http/door/cors.ts'
import { createHostRules, type RequestAddress } from '../../../src/http/door/host.ts'
import { refusePrefetch } from '../../../src/http/door/other-sites.ts'

const BASE = 'https://once.example/box'
const NETWORK = { host: '::', addresses: ['::'] }
const plain = (host: string): RequestAddress => ({ scheme: null, host })
const secure = (host: string): RequestAddress => ({ scheme: 'https', host })

describe('the server’s own origin', () => {
  test.each<[string, string | null, RequestAddress, string]>([
    ['is what was asked for', null, plain('nas:5100'), 'http://nas:5100'],
    ['leaves out the port of its scheme', null, plain('nas:80'), 'http://nas'],
    ['may name it', null, plain('nas'), 'http://nas:80'],
    ['is in any case', null, plain('NAS:5100'), 'http://nas:5100'],
    ['is an address', null, plain('[::1]:5100'), 'http://[::1]:5100'],
    ['has the scheme that a trusted proxy says', null, secure('nas'), 'https://nas'],
    ['leaves out the port of https', null, secure('nas:443'), 'https://nas'],
    ['is the base URL', BASE, plain('once.example'), 'https://once.example'],
    ['is the base URL when a proxy changes the Host', BASE, plain('127.0.0.1:5100'), 'https://once.example'],
    ['is also the address beside the base URL', BASE, plain('localhost:5100'), 'http://localhost:5100'],
    ['has the port of the base URL', 'https://nas:8443', plain('nas:8443'), 'https://nas:8443'],
    ['is http if the proxy says so', BASE, { scheme: 'http', host: 'once.example' }, 'http://once.example'],
  ])('%s', (_name, baseUrl, addressed, origin) => {
    expect(createHostRules({ baseUrl, ...NETWORK }).isOwnOrigin(origin, addressed)).toBe(true)
  })

  test.each<[string, string | null, RequestAddress, string]>([
    ['another port', null, plain('localhost:5100'), 'http://localhost:8080'],
    ['no port', null, plain('localhost:5100'), 'http://localhost'],
    ['another name of this machine', null, plain('localhost:5100'), 'http://127.0.0.1:5100'],
    ['another scheme', null, plain('nas'), 'https://nas'],
    ['the scheme without TLS', null, secure('nas'), 'http://nas'],
    ['the base URL without TLS', BASE, plain('once.example'), 'http://once.example'],
    ['the base URL with another port', BASE, plain('once.example'), 'https://once.example:8443'],
    ['a longer name', null, plain('nas'), 'http://nas.evil.example'],
    ['a name before the real one', null, plain('nas@evil.example'), 'http://evil.example'],
    ['two origins', null, plain('nas'), 'http://nas, http://evil.example'],
    ['an origin with a path', null, plain('nas'), 'http://nas/'],
    ['another spelling of an address', null, plain('127.0.0.1'), 'http://127.1'],
    ['an escaped name', null, plain('nas'), 'http://n%61s'],
    ['the port of another scheme', null, plain('nas'), 'http://nas:443'],
    ['none', null, plain('nas'), 'null'],
    ['any without a Host', null, { scheme: null, host: null }, 'http://null'],
  ])('is not %s', (_name, baseUrl, addressed, origin) => {
    expect(createHostRules({ baseUrl, ...NETWORK }).isOwnOrigin(origin, addressed)).toBe(false)
  })
})

test.each([
  ...['prefetch', 'prefetch;prerender', 'Prefetch; anonymous-client-ip'].map((value) => [
    'sec-purpose',
    value,
  ]),
  ...[
    ['purpose', 'prefetch'],
    ['x-purpose', 'preview'],
    ['x-moz', 'prefetch'],
  ],
])('%s: %s is no retrieval', (name, value) => {
  const request = new Request('http://localhost/', { headers: { [name ?? '']: value ?? '' } })
  expect(() => refusePrefetch(request)).toThrow('before somebody asks')
})

test('any other purpose counts as a retrieval', () => {
  for (const headers of [{}, { purpose: 'reading' }, { 'sec-purpose': '' }])
    expect(() => refusePrefetch(new Request('http://localhost/', { headers }))).not.toThrow()
})

test.each<[string[], string, boolean]>([
  [[], 'https://app.example', false],
  [['https://app.example'], 'https://app.example', true],
  [['https://app.example'], 'https://app.example:443', true],
  [['https://app.example'], 'http://app.example', false],
  [['https://app.example'], 'https://app.example.evil.org', false],
  [['https://app.example'], 'null', false],
  [['chrome-extension://abc'], 'chrome-extension://abc', true],
  [['https://app.example', '*'], 'https://other.example', true],
  [['*'], 'null', true],
])('with --cors-origins %p the origin %p is listed: %p', (origins, origin, isListed) => {
  expect(createCors(origins).isListed(origin)).toBe(isListed)
})
