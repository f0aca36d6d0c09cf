// What a client makes of a server's own authority, and of the fingerprints that people type.

import { expect, test } from 'bun:test'
import { isLimited, normalFingerprint } from '../../src/client/authority.ts'
import { makeAuthority } from '../../src/crypto/certificates.ts'
import { testCertificate } from '../support/certificate.ts'

test('only an authority that is limited to certain names may be installed', async () => {
  const validity = { from: Date.now() - 1000, until: Date.now() + 86_400_000 }
  const { certificate } = await makeAuthority({ commonName: 'x', names: ['box.local'], validity })
  expect(isLimited({ certificate, fingerprint: '' })).toBe(true)
  expect(isLimited({ certificate: testCertificate, fingerprint: '' })).toBe(false)
})

const HEX = '0123456789abcdef'.repeat(4)

test.each([
  [HEX, HEX],
  [HEX.toUpperCase(), HEX],
  [HEX.match(/../g)?.join(':') ?? '', HEX],
  [` SHA256 ${HEX} `, HEX],
  [`sha-256=${HEX}`, HEX],
  [HEX.slice(1), null],
  [`${HEX}00`, null],
  ['AB:CD', null],
  ['', null],
])('the fingerprint %j is read as %j', (text, normal) => {
  expect(normalFingerprint(text)).toBe(normal)
})
