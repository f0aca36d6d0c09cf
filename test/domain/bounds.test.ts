// Limits of small rules: addresses, passwords, file names, waits, shares and errors.

import { expect, test } from 'bun:test'
import { newAccountProblems, parseEmail, passwordProblem } from '../../src/domain/account.ts'
import { DomainError, isDomainError, retrySeconds } from '../../src/domain/errors.ts'
import { cleanFilename, grantLifetime, safeContentType } from '../../src/domain/files.ts'
import { findRoom } from '../../src/domain/shares.ts'
import { presentSystemError } from '../../src/domain/system-errors.ts'
import { MINUTE } from '../../src/domain/time.ts'
import { safeFilename } from '../../src/text/safe-filename.ts'
import { lacksScheme, withScheme } from '../../src/text/server-address.ts'

test('an e-mail address has at most 254 characters, a password at most 1024 bytes', () => {
  const address = (length: number) => `${'a'.repeat(length - 5)}@b.cd`
  expect(parseEmail(address(254))).toBe(address(254))
  expect(parseEmail(address(255))).toBeNull()
  expect(passwordProblem('x'.repeat(1_024))).toBeNull()
})

test('a new account reports every wrong field, and no other', () => {
  const good = { email: 'ann@example.org', password: 'correct horse battery' }
  const fieldsOf = (given: Partial<typeof good>) => Object.keys(newAccountProblems({ ...good, ...given }))
  expect([fieldsOf({}), fieldsOf({ email: 'ann' }), fieldsOf({ password: 'short' })]).toEqual([
    [],
    ['email'],
    ['password'],
  ])
  expect(fieldsOf({ email: 'ann', password: 'short' })).toEqual(['email', 'password'])
})

test.each([
  ['a.txt', 'a.txt'],
  ['.', 'NAMELESS'],
  ['..', 'NAMELESS'],
  ['dir/', 'NAMELESS'],
  [' ', 'NAMELESS'],
  ['...', '...'],
  ['.profile', '.profile'],
])('the file name %j is kept as %j', (name, kept) => {
  const nameless = cleanFilename('')
  expect(nameless).not.toBe('')
  expect(cleanFilename(name)).toBe(kept === 'NAMELESS' ? nameless : kept)
})

test('only safe content types are kept, and a grant lives longer for a large file', () => {
  expect(safeContentType('Application/PDF; version=1')).toBe('application/pdf')
  expect(safeContentType('text/html')).toBe('application/octet-stream')
  const sizes = [0, 64 * 1024 * 1024 - 1, 64 * 1024 * 1024]
  expect(sizes.map(grantLifetime)).toEqual([10 * MINUTE, 10 * MINUTE, 11 * MINUTE])
})

test('a shortened name keeps an extension of up to 32 bytes', () => {
  const named = (extension: number) => `${'s'.repeat(300)}.${'e'.repeat(extension - 1)}`
  const options = { platform: 'linux' }
  expect(safeFilename(named(32), options)).toBe(`${'s'.repeat(223)}.${'e'.repeat(31)}`)
  expect(safeFilename(named(33), options)).toBe('s'.repeat(255))
})

test('a wait is rounded up to whole seconds, from 1 to 60', () => {
  expect([-5, 0, 1, 1_000, 1_001, 59_001, 60_000, 60_001, 1e9].map(retrySeconds)).toEqual([
    1, 1, 1, 1, 2, 60, 60, 60, 60,
  ])
})

test('an error is recognised by its class and its code', () => {
  const conflict = new DomainError('conflict', 'x')
  expect([isDomainError(conflict), isDomainError(conflict, 'conflict')]).toEqual([true, true])
  expect(isDomainError(conflict, 'not_found')).toBe(false)
  for (const other of [new Error('x'), null, { code: 'conflict' }])
    expect([isDomainError(other), isDomainError(other, 'conflict')]).toEqual([false, false])
})

test('without a limit of bytes a push of any size fits', () => {
  const live = [{ bytes: 1, expiresAt: 7 }]
  expect(findRoom({ pushes: 1, bytes: 1 }, 1e9, { live, limits: { pushes: 1, bytes: 0 } })).toBe(7)
})

test.each([
  ['nas', 'http://nas'],
  [' nas:5100 ', 'http://nas:5100'],
  ['//nas/box', 'http://nas/box'],
  ['192.168.1.7:5100', 'http://192.168.1.7:5100'],
  ['127.0.0.1', 'http://127.0.0.1'],
  ['[::1]:5100', 'http://[::1]:5100'],
  ['pi.local', 'http://pi.local'],
  ['once.example.org', 'https://once.example.org'],
  ['8.8.8.8', 'https://8.8.8.8'],
  ['HTTPS://once.example', 'HTTPS://once.example'],
  ['ftp://nas', 'ftp://nas'],
  ['http:/nas', 'http:/nas'],
])('the server %j is asked at %j', (typed, url) => {
  expect(withScheme(typed)).toBe(url)
  expect(lacksScheme(typed)).toBe(typed.trim() !== url)
})

test('a system error is explained in words, with its path if it has one; other errors keep their message', () => {
  const refused = (given: object) => presentSystemError(Object.assign(new Error('kept'), given))
  expect(refused({ code: 'ENOENT', path: '/a b' })).toBe(
    '"/a b" cannot be used: there is no such file or folder.',
  )
  expect(refused({ code: 'ENOENT' })).toBe('The system refused: there is no such file or folder.')
  expect(refused({ code: 'ENOENT', path: 7 })).toBe('The system refused: there is no such file or folder.')
  expect(refused({ code: 'unheard of', path: '/a' })).toBe('kept')
})
