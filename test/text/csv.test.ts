// Cells of CSV are complete, quoted, and never formulas.

import { expect, test } from 'bun:test'
import { writeCsv } from '../../src/text/csv.ts'

test.each<[string, string]>([
  ['plain', '"plain"'],
  ['', '""'],
  ['a,b "c"\nd', '"a,b ""c""\nd"'],
  ['=1+1', `"'=1+1"`],
  ['+49 40', `"'+49 40"`],
  ['-2', `"'-2"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1', `"'\t'=1"`],
  ['\r=1', `"'\r'=1"`],
  ['＝1', `"'＝1"`],
  ['x;=HYPERLINK("http://evil.example")', `"x;'=HYPERLINK(""http://evil.example"")"`],
  ['x;"=1', `"x;""'=1"`],
  ['x\n=cmd', `"x\n'=cmd"`],
  ['a=b - c', '"a=b - c"'],
  ['Mozilla/5.0 (X11; Linux x86_64)', '"Mozilla/5.0 (X11; Linux x86_64)"'],
  ['日本語 😀', '"日本語 😀"'],
])('%j', (cell, expected) => {
  expect(writeCsv([[cell]])).toBe(`${expected}\r\n`)
})

test('rows end with CRLF (RFC 4180)', () => {
  const rows = [
    ['a', 'b'],
    ['c', 'd'],
  ]
  expect(writeCsv(rows)).toBe('"a","b"\r\n"c","d"\r\n')
})
