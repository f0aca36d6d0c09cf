// How a client parses typed fingerprints.

import { expect, test } from 'bun:test'
import { normalFingerprint } from '../../src/client/authority.ts'

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
