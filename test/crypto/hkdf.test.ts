// HKDF against node:crypto and the vectors of RFC 5869.

import { expect, test } from 'bun:test'
import { hkdfSync } from 'node:crypto'
import fc from 'fast-check'
import { deriveKey } from '../../src/crypto/hkdf.ts'

const bytes = fc.uint8Array({ maxLength: 300 })
const text = fc.string({ unit: 'binary', maxLength: 200 })

test('deriveKey equals hkdfSync for all material, salts and infos', () => {
  fc.assert(
    fc.property(bytes, fc.string({ unit: 'binary' }), bytes, text, (first, second, salt, info) => {
      const whole = Buffer.concat([first, Buffer.from(second)])
      const expected = Buffer.from(hkdfSync('sha256', whole, salt, Buffer.from(info), 32))
      expect(deriveKey({ material: [first, second], salt, info }).equals(expected)).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

test.each([0, 1, 63, 64, 65, 200])('deriveKey equals hkdfSync with a salt of %i bytes', (length) => {
  const salt = new Uint8Array(length).fill(5)
  const expected = Buffer.from(hkdfSync('sha256', 'material', salt, 'info', 32))
  expect(deriveKey({ material: ['material'], salt, info: 'info' })).toEqual(expected)
})

test('without a salt deriveKey equals hkdfSync with an empty one', () => {
  const expected = Buffer.from(hkdfSync('sha256', 'material', '', 'info', 32))
  expect(deriveKey({ material: ['material'], info: 'info' })).toEqual(expected)
})

test('deriveKey gives the first 32 bytes of test case 3 of RFC 5869', () => {
  const expected = '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d'
  expect(deriveKey({ material: [new Uint8Array(22).fill(11)], info: '' }).toString('hex')).toBe(expected)
})

test('a lone surrogate becomes the replacement character, as in node:crypto', () => {
  const expected = Buffer.from(hkdfSync('sha256', Buffer.from('a\ud800b'), '', Buffer.from('\udfff'), 32))
  expect(deriveKey({ material: ['a\ud800b'], info: '\udfff' })).toEqual(expected)
})
