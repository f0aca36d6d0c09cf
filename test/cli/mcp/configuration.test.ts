// The configuration of `oncebox mcp`: a private file, and each mistake in it by name.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfiguration } from '../../../src/cli/mcp/configuration.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-mcp-'))
  file = join(folder, 'mcp.json')
  writeFileSync(file, JSON.stringify({ recipes: { a: { argv: ['true'] } }, folders: [folder] }), {
    mode: 0o600,
  })
})
afterEach(() => rmSync(folder, { recursive: true }))

const read = (path = file, mayMiss = false) => readConfiguration(path, { mayMiss })

test('a recipe with only argv passes answers to requests on standard input, and returns no output', () => {
  const recipe = { argv: ['true'], secret: 'stdin', from: ['request'], timeout: 60, output: 0 }
  expect(read().recipes.get('a')).toEqual(recipe as never)
})

test.each([0o644, 0o660, 0o604, 0o640])('a file of mode %o is refused', (mode) => {
  chmodSync(file, mode)
  expect(() => read()).toThrow('nobody else can access (chmod 600)')
})

test('a symlink, a folder and a missing file are refused, and the usual file may be missing', () => {
  symlinkSync(file, join(folder, 'link.json'))
  for (const path of [join(folder, 'link.json'), folder, join(folder, 'none.json')])
    expect(() => read(path)).toThrow(JSON.stringify(path))
  expect(read(join(folder, 'none.json'), true)).toMatchObject({ folders: [] })
})

test('a listed folder that is missing is refused, in the usual file too', () => {
  const none = join(folder, 'none')
  writeFileSync(file, JSON.stringify({ folders: [none] }))
  for (const mayMiss of [false, true])
    expect(() => read(file, mayMiss)).toThrow(`folder ${JSON.stringify(none)}: there is no such`)
})

test.each([
  ['{', 'it is no JSON'],
  ['{"recipe": {}}', 'unknown member "recipe"'],
  ['{"folders": ["outbox"]}', '"folders" must be a list of absolute paths'],
  ['{"folders": "/"}', '"folders" must be a list of absolute paths'],
  ['{"recipients": {"ben": "age1x"}}', 'recipient "ben" must be a public key of age'],
  ['{"recipes": {"a": {}}}', 'recipe "a": needs "argv"'],
  ['{"recipes": {"a": {"argv": []}}}', 'recipe "a": needs "argv"'],
  ['{"recipes": {"a": {"argv": "x"}}}', 'recipe "a": needs "argv"'],
  ['{"recipes": {"a": {"argv": ["x"], "shell": true}}}', 'has an unknown member "shell"'],
  ['{"recipes": {"a": {"argv": ["x"], "secret": "argv"}}}', '"secret" must be'],
  ['{"recipes": {"a": {"argv": ["x"], "secret": "env:LD_PRELOAD"}}}', 'LD_PRELOAD is refused'],
  ['{"recipes": {"a": {"argv": ["x"], "from": ["all"]}}}', '"from" may list'],
  ['{"recipes": {"a": {"argv": ["x"], "timeout": 0}}}', '"timeout" must be'],
  ['{"recipes": {"a": {"argv": ["x"], "output": 16385}}}', '"output" must be'],
])('%p is refused', (text, words) => {
  writeFileSync(file, text)
  expect(() => read()).toThrow(words)
})
