// Which addresses count as one client.

import { expect, test } from 'bun:test'
import { createClientOf, networkOf } from '../../src/domain/client.ts'

test('limits count IPv6 by /64, and never loopback', () => {
  for (const clientOf of [networkOf, createClientOf(() => ['2001:db8:9::1', '192.0.2.2', '::1'])]) {
    expect(clientOf('2001:db8:1:2:3::4')).toBe(clientOf('2001:db8:1:2:ffff::1'))
    expect(clientOf('2001:db8:1:2::1')).not.toBe(clientOf('2001:db8:1:3::1'))
    expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].map(clientOf)).toEqual(Array(4).fill(null))
    expect(clientOf('192.0.2.1')).toBe('192.0.2.1')
    expect(clientOf('::ffff:192.0.2.1')).toBe('192.0.2.1')
    expect(clientOf('unix')).toBe('unix')
  }
})

test('each IPv6 address on this machine’s own networks counts as one client', () => {
  const clientOf = createClientOf(() => ['2001:db8:9::1', '192.0.2.2', 'no address'])
  for (const [one, other] of [
    ['fe80::1', 'fe80::2'],
    ['fe80::1%eth0', 'fe80::2%eth0'],
    ['fd12:3456:789a:1::1', 'fd12:3456:789a:1::2'],
    ['fc00::1', 'fc00::2'],
    ['2001:db8:9::3', '2001:db8:9::4'],
  ] as const) {
    expect(clientOf(one)).not.toBe(clientOf(other))
    expect(clientOf(one)).not.toBeNull()
  }
  expect(clientOf('2001:db8:9::3')).toBe(clientOf('2001:0db8:0009::0003'))
  expect(clientOf('2001:db8:9:1::3')).toBe(clientOf('2001:db8:9:1::4'))
})

test('a later address of the machine is recognised for new clients', () => {
  const own: string[] = []
  const clientOf = createClientOf(() => own)
  expect(clientOf('2001:db8:9::3')).toBe('2001:db8:9::')
  own.push('2001:db8:9::1')
  expect(clientOf('2001:db8:9::4')).toBe('2001:db8:9::4')
})
