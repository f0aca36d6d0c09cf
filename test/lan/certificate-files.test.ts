// Certificates from files: read again when they change, and refused when they cannot be served.

import { beforeEach, expect, test } from 'bun:test'
import { makeAuthority, makeLeaf } from '../../src/crypto/certificates.ts'
import { openCertificateFiles } from '../../src/lan/certificate-files.ts'

const DAY = 24 * 60 * 60 * 1000
const NOW = Date.parse('2026-11-20T12:00:00Z')

const validity = { from: NOW - DAY, until: NOW + 30 * DAY }
const authority = await makeAuthority({ commonName: 'office', names: ['box'], validity })
const leaf = (span = validity) => makeLeaf(authority, { names: ['box'], addresses: [], validity: span })
const first = await leaf()
const second = await leaf()
const lapsed = await leaf({ from: NOW - 9 * DAY, until: NOW - DAY })
const early = await leaf({ from: NOW + DAY, until: NOW + 9 * DAY })

let files: Record<string, string>
beforeEach(() => {
  files = { 'c.pem': first.certificate, 'k.pem': first.key }
})

const open = () =>
  openCertificateFiles({
    certPath: 'c.pem',
    keyPath: 'k.pem',
    readFile: async (path) => {
      const text = files[path]
      if (text === undefined) throw Object.assign(new Error('missing'), { code: 'ENOENT' })
      return text
    },
    now: () => NOW,
  })

test('changed files are served from then on', async () => {
  const served = await open()
  expect(await served.refresh()).toBe(false)
  files = { 'c.pem': second.certificate, 'k.pem': second.key }
  expect(await served.refresh()).toBe(true)
  expect(served.current().certificate).toBe(second.certificate)
})

test.each([
  ['only one of them is new', { 'k.pem': second.key }, 'does not belong to'],
  [
    'the certificate has lapsed',
    { 'c.pem': lapsed.certificate, 'k.pem': lapsed.key },
    'lapsed on 2026-11-19',
  ],
  ['it is not valid yet', { 'c.pem': early.certificate, 'k.pem': early.key }, "this machine's clock"],
  ['the certificate is half written', { 'c.pem': 'nothing' }, 'holds no certificate'],
  ['the key is half written', { 'k.pem': 'nothing' }, 'holds no private key'],
  ['the key has a passphrase', { 'k.pem': '-----BEGIN ENCRYPTED PRIVATE KEY-----' }, 'is encrypted'],
])('while %s, the old pair is served and the reason is reported', async (_, changed, reason) => {
  const served = await open()
  files = { ...files, ...changed }
  await expect(served.refresh()).rejects.toThrow(reason)
  expect(served.current()).toEqual(first)
  await expect(open()).rejects.toThrow(reason)
})

test('a missing file is named', async () => {
  files = { 'c.pem': first.certificate }
  await expect(open()).rejects.toThrow('--tls-key k.pem cannot be read')
})
