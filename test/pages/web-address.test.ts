// Addresses as people type them: what becomes a link, and what is left for the check to refuse.

import { expect, test } from 'bun:test'
import { completeWebAddress } from '../../src/pages/share/create/web-address.ts'
import { isWebAddress } from '../../src/text/web-address.ts'

test.each([
  ...[
    'www.example.org',
    'example.org',
    'WWW.Example.ORG/Path?q=a b#c',
    'example.org.',
    'münchen.de',
    '例え.テスト/道',
  ],
  ...[
    'sub_domain.example.org',
    'localhost',
    'localhost:3000/x',
    'nas:5000',
    'nas/share',
    'nas.lan',
    'xn--mnchen-3ya.de',
  ],
  ...[
    '192.168.1.10',
    '192.168.1.10:8080/x',
    '[::1]',
    '[fe80::1]:8443/x',
    'example.org:8443',
    'example.org?a=b',
  ],
])('%s gets https://', (typed) => {
  expect(completeWebAddress(typed)).toBe(`https://${typed}`)
  expect(isWebAddress(completeWebAddress(typed))).toBe(true)
})

test.each([
  ['  www.example.org \n', 'https://www.example.org'],
  ['//example.org/x', 'https://example.org/x'],
  [' https://example.org/a ', 'https://example.org/a'],
  ['HTTP://example.org', 'HTTP://example.org'],
  ['http://192.168.1.1', 'http://192.168.1.1'],
])('the typed address %p is completed to %s', (typed, completed) => {
  expect(completeWebAddress(typed)).toBe(completed)
})

test.each([
  ...[
    '',
    'hunter2',
    'correct horse battery',
    'ann@example.org',
    'user:secret@example.org',
    '3.14',
    'example.',
  ],
  ...[
    'javascript:alert(1)',
    'javascript:1',
    'data:text/html,x',
    'tel:12345',
    'mailto:ann@example.org',
    'ftp://example.org',
  ],
  ...[
    'file:///etc/passwd',
    'example.org:99999',
    '\\\\server\\share',
    '/path',
    '?query',
    'a b.org',
    '<b>.org',
    '.example.org',
  ],
])('%p is not an address, and stays unchanged', (typed) => {
  expect(completeWebAddress(typed)).toBe(typed.trim())
  expect(isWebAddress(completeWebAddress(typed))).toBe(false)
})
