// The program on the disk while it is replaced.

import { afterEach, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  allowToRun,
  prepareProgramFolder,
  programFiles,
  replaceProgram,
  requireFormer,
  returnToFormer,
} from '../../src/install/program-files.ts'

const CHILD = resolve(import.meta.dir, '../support/replace-child.ts')
let made: string[] = []
afterEach(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
  made = []
})

function createProgram(): string {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-program-'))
  made.push(folder)
  writeFileSync(join(folder, 'oncebox'), 'old', { mode: 0o755 })
  return join(folder, 'oncebox')
}

test('the new program replaces the old one with the same permissions, and the old one is kept', () => {
  const path = createProgram()
  const files = programFiles(path)
  writeFileSync(files.staged, 'new', { mode: 0o600 })
  allowToRun(files)
  replaceProgram(files)
  expect([readFileSync(path, 'utf8'), readFileSync(`${path}.old`, 'utf8')]).toEqual(['new', 'old'])
  expect(statSync(path).mode & 0o777).toBe(0o755)
  expect(readdirSync(join(path, '..')).sort()).toEqual(['oncebox', 'oncebox.old'])
  requireFormer(files)
  returnToFormer(files)
  expect(readFileSync(path, 'utf8')).toBe('old')
  expect(() => requireFormer(files)).toThrow('There is no former program')
})

test.each([
  ['kept', 'old', null],
  ['former', 'old', 'old'],
  ['replaced', 'new', 'old'],
  ['done', 'new', 'old'],
])('a kill after the step "%s" leaves a complete program: %s', (step, program, former) => {
  const path = createProgram()
  const { signalCode } = Bun.spawnSync([process.execPath, CHILD, path, step])
  expect(signalCode).toBe('SIGKILL')
  expect(readFileSync(path, 'utf8')).toBe(program)
  expect(existsSync(`${path}.old`) ? readFileSync(`${path}.old`, 'utf8') : null).toBe(former)
  // The next upgrade clears what is left.
  prepareProgramFolder(programFiles(path))
  expect(existsSync(`${path}.new`)).toBe(false)
})

test('a folder that other users can write to is refused', () => {
  const path = createProgram()
  chmodSync(join(path, '..'), 0o777)
  expect(() => prepareProgramFolder(programFiles(path))).toThrow('Every user of this machine may write to')
  chmodSync(join(path, '..'), 0o755)
  chmodSync(path, 0o757)
  expect(() => prepareProgramFolder(programFiles(path))).toThrow(`chmod o-w ${path}`)
})

test('a former program that is a symlink or a folder is not restored', () => {
  const path = createProgram()
  symlinkSync('/bin/true', `${path}.old`)
  expect(() => requireFormer(programFiles(path))).toThrow('not a plain file')
  rmSync(`${path}.old`)
  mkdirSync(`${path}.old`)
  expect(() => requireFormer(programFiles(path))).toThrow('not a plain file')
})
