// Parses web addresses: the authority is that of the whole URL, and the parser gets only a short text.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { authorityOf, isWebAddress } from '../../src/text/web-address.ts'
import { workedMs } from '../support/effort.ts'

const PARTS = ['protocol', 'username', 'password', 'host', 'hostname', 'port', 'origin'] as const

/** Texts that move the end of an authority, or that URL parsers drop, map or refuse. */
const SIGNS = [
  ...[
    '@',
    ':',
    '/',
    '\\',
    '?',
    '#',
    '[',
    ']',
    '%',
    '%41',
    '%2f',
    '%5c',
    '%00',
    '|',
    '^',
    '<',
    '"',
    '~',
    '-',
    '_',
  ],
  ...['\t', '\n', '\r', ' ', '\0', '\u007f', '\u0085', '\u00a0', '\u00ad', '\u200b', '\u3000', '\ufeff'],
  ...[
    '.',
    '..',
    '。',
    '．',
    '／',
    '＼',
    '？',
    '＃',
    '＠',
    '：',
    'ſ',
    'ß',
    'İ',
    '\u0301',
    '\ud800',
    '😀',
    'xn--',
  ],
  ...['1', '0x7f', '::1', '[::1]', '127.1', ':80', ':443', ':99999', 'http://', '//'],
]
const scheme = fc.constantFrom(
  'http://',
  'https://',
  'HTTP://',
  'http:/',
  'http:',
  'http:\\\\',
  'http:///',
  ' http://',
  'ftp://',
)
const usual = fc.oneof(fc.constantFrom('a', 'b.example', 'evil.example', 'user'), fc.constantFrom(...SIGNS))
const anything = fc.string({ unit: 'binary', maxLength: 3 })
const rest = fc.array(fc.oneof({ weight: 9, arbitrary: usual }, anything), { maxLength: 8 })

test('a URL parser finds the same authority in the whole text, and accepts all accepted texts', () => {
  let taken = 0
  const property = fc.property(scheme, rest, (start, parts) => {
    const text = start + parts.join('')
    const found = authorityOf(text)
    const url = URL.parse(text)
    if (found === null) return
    taken += 1
    expect(PARTS.map((part) => found[part])).toEqual(PARTS.map((part) => url?.[part] ?? ''))
  })
  fc.assert(property, { numRuns: 20_000 })
  expect(taken).toBeGreaterThan(500)
})

test('the text after the authority makes no URL invalid', () => {
  const property = fc.property(fc.constantFrom('/', '?', '#', '\\'), rest, anything, (end, parts, more) => {
    const text = `https://user@b.example:8443${end}${parts.join('')}${more}`
    expect(URL.parse(text)?.host).toBe('b.example:8443')
    expect(authorityOf(text)?.host).toBe('b.example:8443')
  })
  fc.assert(property, { numRuns: 5000 })
})

test.each([
  ['https://once.example', 'once.example'],
  ['https://once.example ', 'once.example'],
  ['https://ann:secret@once.example:8443/x@y', 'once.example:8443'],
  ['http://once.example\\@evil.example', 'once.example'],
  ['https://[::1]:5100/', '[::1]:5100'],
  ['https://MÜNCHEN.example', 'xn--mnchen-3ya.example'],
  ['https://once\t.example', null],
  ['https://once.example\u0001/', null],
  ['https:once.example', null],
  ['https:///once.example', null],
  ['https://once.example:99999', null],
  ['httpſ://once.example', null],
])('%j has the host %p', (text, host) => {
  expect(authorityOf(text)?.host ?? null).toBe(host)
})

test('an authority has at most 253 characters, a path any number', () => {
  const named = (length: number) => `https://${'a'.repeat(length)}/${'x'.repeat(10_000)}`
  expect([253, 254].map((length) => isWebAddress(named(length)))).toEqual([true, false])
  const trailing = (length: number) => `https://${'a'.repeat(length)}`
  expect([253, 254].map((length) => isWebAddress(trailing(length)))).toEqual([true, false])
})

test.each([
  ['labels', `https://${'é.'.repeat(80_000)}de`],
  ['marks', `https://a${'\u0301\u0316'.repeat(80_000)}/`],
  ['users', `https://${'a@'.repeat(80_000)}b.example`],
  ['colons', `https://[${':'.repeat(160_000)}]`],
])('160,000 characters of %s are refused at once', (_name, text) => {
  const began = workedMs()
  expect(isWebAddress(text)).toBe(false)
  // Takes less than one on a quiet machine. Once, the marks took seconds.
  expect(workedMs() - began).toBeLessThan(500)
})
