// The words of comments, types and test names: rules that a program can check. docs/words.md has the terms.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '..')
/** The formatter's `lineWidth`, which it does not apply to comments. */
const WIDTH = 110
/** First words of a fragment, which is no sentence without the name above it. */
const FRAGMENT = /^(Of|By|As|Also|With|Without|Null|For|Such|Those|That|To|What) /
/** Phrases that are no English of the trade. Each has a plainer one in its place. */
const OLD_TONGUE: Record<string, RegExp> = {
  'of ours': /\bof ours\b/,
  'of before': /\bof before\b/,
  'goes on (continues)': /\bgo(es)? on\b/,
  'is told (is reported)': /\b(is|are|was|were|be) told\b/,
  'a look (a view, a check)': /\ba look\b/,
  'whoever (the viewer, the owner, a client)': /\bwhoever\b/i,
  'leads nowhere (dangling)': /\bleads? nowhere\b/,
  'set back (rolled back, restored)': /\bset back\b/,
  'all the same (anyway, still)': /\ball the same\b/,
  'a work (a step, a task)': /\b(a|each|every) work\b/,
}

type Source = { path: string; text: string }

const isCode = (path: string) => /\.tsx?$/.test(path)
const sources = read('{src,test,scripts}/**/*').filter(({ path }) => isCode(path))
const comments = sources.flatMap(({ path, text }) =>
  [...text.matchAll(/\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$/gm)].map(([found]) => ({ path, text: plain(found) })),
)

function read(pattern: string): Source[] {
  return [...new Glob(pattern).scanSync(ROOT)]
    .sort()
    .filter((path) => /\.(tsx?|js|css|md)$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

/** Returns the words of a comment in one line. */
function plain(comment: string): string {
  return comment
    .replace(/\s*\n\s*(?:\*(?!\/))?\s*/g, ' ')
    .replace(/^\s*(\/\*\*?|\/\/)\s*|\s*\*\/$/g, '')
    .trim()
}

test('no comment begins as a fragment', () => {
  const fragments = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\/\*\*[\s\S]*?\*\//g)]
      .map(([found]) => plain(found))
      .filter((comment) => FRAGMENT.test(comment))
      .map((comment) => `${path}: ${comment}`),
  )
  expect(comments.length).toBeGreaterThan(4000)
  expect(fragments).toEqual([])
})

test('no comment is wider than the code', () => {
  const wide = sources.flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => /^\s*(\/\/|\*|\/\*)/.test(line) && line.length > WIDTH)
      .map((line) => `${path}: ${line.trim()}`),
  )
  expect(wide).toEqual([])
})

test('no type name is exported from two files', () => {
  const homes = new Map<string, string[]>()
  for (const { path, text } of sources.filter(({ path }) => path.startsWith('src/')))
    for (const [, name = ''] of text.matchAll(/^export (?:type|interface) ([A-Z]\w*)/gm))
      homes.set(name, [...(homes.get(name) ?? []), path])
  expect(homes.size).toBeGreaterThan(500)
  expect([...homes].filter(([, paths]) => paths.length > 1)).toEqual([])
})

test('every path of the project that a document or a comment names exists', () => {
  const PATH = /\b(?:src|test|scripts)\/[\w./-]+\.(?:tsx?|js|json|sql|css)\b/g
  const written = [...read('{*.md,docs/**/*.md}'), ...comments]
  const dangling = written.flatMap(({ path, text }) =>
    (text.match(PATH) ?? [])
      .filter((named) => !existsSync(join(ROOT, named)))
      .map((named) => `${path}: ${named}`),
  )
  expect(dangling).toEqual([])
})

test('no phrase of the old tongue returns, neither in comments nor in test names', () => {
  const names = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:test|describe)\b[^\n]*?\(\s*(['"`])(.*?)\1\s*,/g)].map(([, , name = '']) => ({
      path,
      text: name,
    })),
  )
  const found = Object.entries(OLD_TONGUE).flatMap(([phrase, pattern]) =>
    [...comments, ...names]
      .filter(({ path, text }) => path !== 'test/wording.test.ts' && pattern.test(text))
      .map(({ path, text }) => `${phrase}: ${path}: ${text}`),
  )
  expect(names.length).toBeGreaterThan(1500)
  expect(found).toEqual([])
})
