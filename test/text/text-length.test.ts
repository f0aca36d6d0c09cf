import { expect, test } from 'bun:test'
import { hasMoreBytes, hasMoreCharacters } from '../../src/text/text-length.ts'

test.each([
  ['', false],
  ['abc', false],
  ['abcd', true],
  ['🔑🔑🔑', false],
  ['🔑🔑🔑a', true],
  ['🔑🔑🔑🔑', true],
  ['\ud83d\ud83d\ud83d\ud83d', true],
] as const)('%p has more than three characters: %p', (text, isLonger) => {
  expect(hasMoreCharacters(text, 3)).toBe(isLonger)
})

test.each([
  ['abcd', false],
  ['abcde', true],
  ['éé', false],
  ['ééé', true],
  ['🔑', false],
  ['🔑a', true],
  ['€€', true],
] as const)('%p has more than four bytes: %p', (text, isLonger) => {
  expect(hasMoreBytes(text, 4)).toBe(isLonger)
})
