// The shape of an opened text: passwords are hidden, messages are open, and lines have a copy button each.

import { describe, expect, test } from 'bun:test'
import { shapeOf, splitLine } from '../../src/pages/receive/secret-shape.ts'
import { workedMs } from '../support/effort.ts'

describe('a masked text', () => {
  test.each([
    'hunter2',
    'P@ss!word?.',
    'k3m9-qx2v',
    'correct horse battery staple',
    ' with blanks around ',
    '秘密のパスワード',
    'x\n',
    'eyJhbGciOi.'.repeat(60),
  ])('%s', (payload) => {
    expect(shapeOf(payload)).toBe('hidden')
  })
})

describe('prose', () => {
  test.each([
    'The door code is 4711.',
    'Der Schlüssel liegt unter der dritten Matte links vom Eingang',
    'Hello! Call me.',
    'パスワードは明日送ります。',
    'مرحبا بك. الرمز قريب',
    `${'x'.repeat(501)}\ny`,
    Array(51).fill('line').join('\n'),
    '-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n',
    `line${'\n'.repeat(30_000)}line`,
  ])('%s', (payload) => {
    expect(shapeOf(payload)).toBe('prose')
  })
})

test('a few lines are shown and copied one by one, with any line ending', () => {
  for (const payload of ['user: ann\npassword: x', 'one\r\ntwo\r\n\r\nthree', 'one\rtwo', 'Hi.\n\nuser: x'])
    expect(shapeOf(payload)).toBe('lines')
})

test.each([
  ['user: ann', 'user: ', 'ann'],
  ['  User name :  ann b ', '  User name :  ', 'ann b '],
  ['Contraseña: x:y', 'Contraseña: ', 'x:y'],
  ['كلمة المرور: سر', 'كلمة المرور: ', 'سر'],
  ['ユーザー：\u3000x', 'ユーザー：\u3000', 'x'],
  ['API_TOKEN=abc=', 'API_TOKEN=', 'abc='],
  ['key = value', 'key = ', 'value'],
  ['https://example.org/', '', 'https://example.org/'],
  ['meet at 14:30', '', 'meet at 14:30'],
  ['localhost:8080', '', 'localhost:8080'],
  ['x9Q==', '', 'x9Q=='],
  ['user:', '', 'user:'],
  ['1: x', '', '1: x'],
])('%p has the label %p and the value %p', (line, label, value) => {
  expect(splitLine(line)).toMatchObject({ label, value })
})

test.each([
  ['password: x', true],
  ['Passwort = x', true],
  ['Mot de passe : x', true],
  ['Contraseña: x', true],
  ['パスワード：\u3000x', true],
  ['كلمة المرور: x', true],
  ['DB_PASSWORD=x', true],
  ['PIN: 4711', true],
  ['user: password', false],
  ['Pint of milk: 2', false],
  ['shipping: x', false],
])('%p holds a password: %p', (line, isPassword) => {
  expect(splitLine(line).isPassword).toBe(isPassword)
})

test('any line is split in linear time', () => {
  const before = workedMs()
  for (const line of [' '.repeat(500), `a${' '.repeat(499)}`, 'a '.repeat(250), `a${' :'.repeat(249)}`])
    for (let n = 0; n < 50; n += 1) splitLine(line)
  expect(workedMs() - before).toBeLessThan(500)
})
