import { expect, test } from 'bun:test'
import { isLoopback, isOfLocalNetwork } from '../../src/text/local-names.ts'

test.each(['nas', 'localhost', 'oncebox.local', 'nas.lan', 'nas.internal', 'nas.home.arpa', 'a.b.lan'])(
  '%p and all below it belong to a local network',
  (name) => expect(isOfLocalNetwork(name)).toBe(true),
)

test.each([
  '',
  'com',
  'DEV',
  'box',
  'xn--p1ai',
  'local',
  'lan',
  'home.arpa',
  'arpa',
  'bank.example',
  'local.com',
])('%p is not limited to the local network', (name) => expect(isOfLocalNetwork(name)).toBe(false))

test.each(['localhost', 'LOCALHOST', 'a.localhost', 'localhost.', '127.0.0.1', '127.1.2.3', '::1', '[::1]'])(
  '%p is this machine',
  (host) => expect(isLoopback(host)).toBe(true),
)

test.each(['', 'localhost.example', 'mylocalhost', '127.example.com', '127.0.0.1.example', '::', '[::2]'])(
  '%p is another machine',
  (host) => expect(isLoopback(host)).toBe(false),
)
