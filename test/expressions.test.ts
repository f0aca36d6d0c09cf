// Regular expressions: none takes more than linear time for text that comes from outside.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Glob } from 'bun'
import { analyse } from 'scslre'

const SRC = resolve(import.meta.dir, '../src')

/** Files whose expressions read only what the operator of this machine wrote. */
const OPERATORS: ReadonlySet<string> = new Set([
  'install/env-file.ts',
  // Its expression reads the texts of --contact and --notice.
  'pages/frame/brand.tsx',
])

/**
 * Finds regular expressions: the slash follows an operator, a bracket or a word, or starts a line.
 */
const LITERAL =
  /(?:^|[=(,:?!&|[{;>]|\breturn|\bcase)\s*\/(?![/*])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/([dgimsuvy]*)(?![\w/])/gm
type Literal = { path: string; source: string; flags: string }

const literals: Literal[] = [...new Glob('**/*.{ts,tsx,js}').scanSync(SRC)].sort().flatMap((path) => {
  const text = readFileSync(join(SRC, path), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const found = [...text.matchAll(LITERAL)].map(([, source = '', flags = '']) => ({ path, source, flags }))
  return found.filter(isExpression)
})

/** Texts that look like expressions: paths within templates. */
function isExpression({ source, flags }: Literal): boolean {
  try {
    return new RegExp(source, flags) !== null
  } catch {
    return false
  }
}

function isSlow({ source, flags }: Literal): boolean {
  return analyse(new RegExp(source, flags)).reports.length > 0
}

test.each([String.raw`^a=\s*(\d*)\s*-`, 'x+$', '^(a+)+$', String.raw`,\s*\s*;`])(
  '/%s/ is recognized as slow',
  (source) => {
    expect(isSlow({ path: '', source, flags: '' })).toBe(true)
  },
)

test('no expression has adjacent quantifiers that match the same text, or starts with an unanchored quantifier', () => {
  const read = literals.filter(({ path }) => !OPERATORS.has(path))
  expect(read.length).toBeGreaterThan(300)
  const slow = read.filter(isSlow)
  expect(slow.map(({ path, source }) => `${path}: /${source}/`)).toEqual([])
})
