// The file name of a multipart part, as each kind of client writes it.

import { expect, test } from 'bun:test'
import { readFilename } from '../../../src/http/intake/file-part-name.ts'
import { workedMs } from '../../support/effort.ts'

const named = (filename: string, rest = '') =>
  readFilename(filename, `form-data; name="f"; filename="${filename}"${rest}`)

test.each([
  ['a.txt', 'a.txt'],
  ['a%22b.txt', 'a"b.txt'],
  ['a%0D%0Ab.txt', 'a\r\nb.txt'],
  ['a%0d%0ab%20%25.txt', 'a%0d%0ab%20%25.txt'],
  ['%', '%'],
  ['=?utf-8?B?JTIyLnR4dA==?=', '%22.txt'],
])('the written name %p is read as %p', (written, name) => {
  expect(named(written)).toBe(name)
})

test.each([
  ["; filename*=UTF-8''%E2%82%AC", '€'],
  ["; FILENAME* = utf-8'de'%E2%82%AC ", '€'],
  ["; size=3; filename*=utf-8''%E2%82%AC; more=x", '€'],
  ["; filename*=utf-8''", ''],
  ['; filename*=%E2%82%AC', 'given'],
  ["; filename*=''a", 'given'],
  ["; filename*=utf-8''%E2%82", 'given'],
  ['; x="; filename*=utf-8\'\'b"', 'given'],
])('after another name, %p is read as %p', (rest, name) => {
  expect(named('given', rest)).toBe(name)
})

test('a pathological header is parsed in linear time', () => {
  const began = workedMs()
  for (const piece of ['; ', ';a', ';a=', ';a="\\"', '; filename*=', ";filename*=utf-8'"]) {
    readFilename('given', piece.repeat(16_384 / piece.length))
  }
  expect(workedMs() - began).toBeLessThan(1000)
})
