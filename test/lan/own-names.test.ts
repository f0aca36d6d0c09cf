// The names that a certificate of our own vouches for.

import { expect, test } from 'bun:test'
import { normalAddress, ownAddresses, ownNames } from '../../src/lan/own-names.ts'

const GIVEN = { hostName: 'Attic', mdns: null, host: '0.0.0.0', baseUrl: null, receiveUrl: null }

test('the names are localhost and the machine’s name, also with the domains that routers and mDNS add', () => {
  expect(ownNames(GIVEN)).toEqual([
    'attic',
    'attic.local',
    'attic.lan',
    'attic.internal',
    'attic.home.arpa',
    'localhost',
  ])
})

test('the announced name and the names of --base-url, --receive-url and --host are included', () => {
  const names = ownNames({
    hostName: 'nas.office.example.',
    mdns: 'oncebox',
    host: 'Nas2',
    baseUrl: 'https://once.lan:5100/x',
    receiveUrl: 'https://open.lan',
  })
  expect(names.slice(0, 5)).toEqual(['once.lan', 'open.lan', 'oncebox.local', 'nas2', 'nas.office.example'])
  expect(names).toContain('nas.local')
})

test('a top-level domain is left out, because an authority for it could vouch for every site below', () => {
  for (const hostName of ['box', 'Dev', 'cloud', 'de', 'xn--p1ai'])
    expect(ownNames({ ...GIVEN, hostName })[0]).toBe(`${hostName.toLowerCase()}.local`)
  expect(ownNames({ ...GIVEN, host: 'dev', baseUrl: 'http://app:5100' })[0]).toBe('attic')
})

test('addresses and invalid DNS names are left out', () => {
  expect(ownNames({ ...GIVEN, hostName: 'my_box', host: '192.0.2.1', baseUrl: 'https://192.0.2.1' })).toEqual(
    ['localhost'],
  )
})

test('the addresses are those of loopback and the machine, once each, without link-local ones', () => {
  const listed = () => [
    '127.0.0.1',
    '10.0.0.5',
    '10.0.0.5',
    'fe80::1',
    'FD00:0::2',
    '::ffff:10.0.0.6',
    'eth0',
  ]
  expect(ownAddresses(listed)).toEqual(['127.0.0.1', '::1', '10.0.0.5', 'fd00::2', '10.0.0.6'])
  expect(normalAddress('FD00:0:0:0:0:0:0:2')).toBe('fd00::2')
})
