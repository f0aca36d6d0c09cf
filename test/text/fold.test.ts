import { expect, test } from 'bun:test'
import { foldedWords, foldForSearch } from '../../src/text/fold.ts'
import { workedMs } from '../support/effort.ts'

test.each([
  ['celik', 'Çelik'],
  ['istanbul', 'İstanbul'],
  ['ISPARTA', 'ısparta'],
  ['diş', 'DIŞ'],
  ['strasse', 'Straße'],
  ['STRASSE', 'STRAẞE'],
  ['ubergabe', 'Übergabe'],
  ['u\u0308bergabe', 'übergabe'],
  ['ΟΔΟΣ', 'οδός'],
  ['łodz', 'Łódź'],
  ['lodz', 'Łódź'],
  ['smorrebrod', 'smørrebrød'],
  ['oeuvre', 'œuvre'],
  ['file', 'ﬁle'],
  ['wifi 5', 'Ｗｉｆｉ ⁵'],
  ['كتاب', 'كِتَاب'],
])('a search treats %s and %s alike', (one, other) => {
  expect(foldForSearch(one)).toBe(foldForSearch(other))
})

test('different letters stay different', () => {
  expect(foldForSearch('banner')).not.toContain(foldForSearch('bonn'))
  expect(foldForSearch('日本')).not.toBe(foldForSearch('日木'))
})

test.each([
  ['two that sort against each other', '\u0301\u0316'],
  ['the half-wide ones of Katakana', '\uff9e\u0301'],
  ['of different rows', '\u0345\u0308\u0323'],
])('a hundred thousand consecutive marks fold in linear time: %s', (_, marks) => {
  const text = `Ann${marks.repeat(100_000 / marks.length)}a`
  const before = workedMs()
  expect(foldForSearch(text)).toBe('ANNA')
  expect(workedMs() - before).toBeLessThan(200)
})

test('a query is split into words at any blanks', () => {
  expect(foldedWords('  Çelik\u00a0 Kapı\t')).toEqual(['CELIK', 'KAPI'])
  expect(foldedWords(' \u0301 ')).toEqual([])
})
