import { expect, test } from 'bun:test'
import { isOfLocalNetwork } from '../../src/text/local-names.ts'

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
