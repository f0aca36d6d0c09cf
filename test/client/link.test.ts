// Pasted links and tokens, and which server may receive a token.

import { expect, test } from 'bun:test'
import { isInTheClear, isSameServer, parseLinkOrToken } from '../../src/client/link.ts'

const urlToken = '7k3m9qx2vn4t8bw5hj6r0yzacd'

test.each<[string, string | null]>([
  [urlToken, null],
  [` ${urlToken}\n`, null],
  [`https://once.example/p/${urlToken}`, 'https://once.example'],
  [`https://once.example/p/${urlToken}/r`, 'https://once.example'],
  [`http://nas:5100/p/${urlToken}/preview`, 'http://nas:5100'],
  [`http://[::1]:5100/box/p/${urlToken}.json?passphrase=x`, 'http://[::1]:5100/box'],
  [`https://pwpush.example/en/p/${urlToken}/r`, 'https://pwpush.example'],
  [`https://pwpush.example/pt-BR/f/${urlToken}#x`, 'https://pwpush.example'],
  [`https://once.example/a/b/r/${urlToken}/`, 'https://once.example/a/b'],
  [`https://once.example/api/v2/pushes/${urlToken}`, 'https://once.example'],
  [`HTTPS://ONCE.EXAMPLE/P/${urlToken.toUpperCase()}/R`, 'https://once.example'],
  [urlToken.toUpperCase(), null],
  [`<https://once.example/p/${urlToken}>`, 'https://once.example'],
  [`once.example/p/${urlToken}/r`, 'https://once.example'],
  [`Once.Example:8443/box/p/${urlToken}`, 'https://once.example:8443/box'],
  [`//once.example/p/${urlToken}`, 'https://once.example'],
  [`localhost:5100/p/${urlToken}`, 'http://localhost:5100'],
  [`127.0.0.1:5100/p/${urlToken}`, 'http://127.0.0.1:5100'],
  [`192.168.1.20:5100/p/${urlToken}`, 'http://192.168.1.20:5100'],
  [`[::1]:5100/p/${urlToken}`, 'http://[::1]:5100'],
  [`nas:5100/p/${urlToken}`, 'http://nas:5100'],
  [`nas.local/p/${urlToken}`, 'http://nas.local'],
  [`203.0.113.5/p/${urlToken}`, 'https://203.0.113.5'],
])('%p is a push on the server %p', (text, server) => {
  expect(parseLinkOrToken(text)).toMatchObject({ server, urlToken })
})

test.each([
  '',
  'abc',
  'https://once.example',
  'https://once.example/p/',
  `ftp://x/p/${urlToken}`,
  `http:/x/p/${urlToken}`,
  `javascript:alert(1)/p/${urlToken}`,
  `https://once.example@evil.example/p/${urlToken}`,
  'once.example',
  'localhost:5100',
  'a b c d',
  '../../x',
  `https://${'a.'.repeat(130)}example/p/${urlToken}`,
  `https://once.example/${'a/'.repeat(1000)}p/${urlToken}`,
])('%p is not a push', (text) => {
  expect(parseLinkOrToken(text)).toBeNull()
})

test('a token in mixed case is not changed', () => {
  expect(parseLinkOrToken('aBcD-1234')?.urlToken).toBe('aBcD-1234')
})

test('spellings of one server are equal, and another port, path or scheme is another server', () => {
  expect(isSameServer('https://Once.Example:443/', 'https://once.example')).toBe(true)
  expect(isSameServer('https://once.example/box/', 'https://once.example/box')).toBe(true)
  for (const other of ['http://once.example', 'https://once.example:8443', 'https://once.example/box'])
    expect(isSameServer('https://once.example', other)).toBe(false)
  expect(isSameServer('https://once.example@evil.example', 'https://once.example')).toBe(false)
})

test('requests to other machines without TLS are in the clear', () => {
  expect(isInTheClear('http://nas:5100')).toBe(true)
  for (const server of ['https://nas', 'http://localhost:5100', 'http://127.0.0.1', 'http://[::1]:5100'])
    expect(isInTheClear(server)).toBe(false)
})
