// `oncebox import password-pusher`: which command lines are accepted, and what is printed.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ImportWish } from '../../src/app/import-command.ts'
import { newFolder } from '../support/import.ts'
import { createTrial } from './trial.ts'

let folder: string

beforeEach(() => {
  folder = newFolder()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const COMMAND = ['import', 'password-pusher']

/** Runs the command line and returns the options that the import gets. */
async function wishOf(args: string[], given: { env?: Record<string, string> } = {}) {
  const trial = createTrial({ env: given.env ?? {} })
  const wishes: ImportWish[] = []
  trial.app.importCommand = async (wish) => {
    wishes.push(wish)
    const report = { accounts: 0, live: 0, expired: 0, gone: 0, failures: [], differences: [] }
    return { source: { version: '1', isDefaultKey: false }, mode: 'verify', report }
  }
  const code = await trial.run(...COMMAND, ...args, '--data-dir', join(folder, 'box'))
  return { code, text: trial.text(), wish: wishes[0] }
}

const ADDRESS = 'postgres://pwpush@db/pwpush'
const WITH_PASSWORD = 'postgres://pwpush:in-address@db/pwpush'

test('the password of a source database is read from a file, the address, or its client’s variable, in this order', async () => {
  const path = join(folder, 'pw.txt')
  writeFileSync(path, 'from file\n')
  const env = { PGPASSWORD: 'pg', MYSQL_PWD: 'my' }
  const passwordOf = async (...args: string[]) => (await wishOf(args, { env })).wish?.sourcePassword
  expect(await passwordOf('--database', ADDRESS)).toBe('pg')
  expect(await passwordOf('--database', 'mysql2://pwpush@db/pwpush')).toBe('my')
  expect(await passwordOf('--database', WITH_PASSWORD)).toBeNull()
  expect(await passwordOf('--database', ADDRESS, '--database-password-file', path)).toBe('from file')
  expect(await passwordOf('--database', WITH_PASSWORD, '--database-password-file', path)).toBe('from file')
  expect(await passwordOf('--database', 'file.sqlite3')).toBeNull()
})

test('warns of a password on the command line without repeating it', async () => {
  const { text, code } = await wishOf(['--database', WITH_PASSWORD])
  expect(code).toBe(0)
  expect(text).toContain('--database-password-file')
  expect(text).not.toContain('in-address')
  const path = join(folder, 'pw.txt')
  writeFileSync(path, 'x')
  const hidden = await wishOf(['--database', ADDRESS, '--database-password-file', path])
  expect(hidden.text).not.toContain('other users')
})

test.each([
  [[], '--database is missing'],
  [['--database'], '--database: a value is missing'],
  [['--database', 'oracle://u:secret@db/d'], '--database (hidden): oracle:// is not known'],
  [['--database', 'postgres://u:secret@db'], 'names no database'],
  [['--database', 'postgres://u:secret@db/d?sslmode=odd'], 'must be one of disable, prefer, require'],
  [['--database', 'x', '--storage'], '--storage: a value is missing'],
  [['--database', ADDRESS, '--database-password-file'], '--database-password-file: a value is missing'],
  [
    ['--database', 'x', '--database-password-file', import.meta.path],
    '--database-password-file: only with the address of a server',
  ],
  [['--database', 'x', '--dry-run', '--verify'], 'give only one of them'],
  [['--database', 'x', '--dry'], 'unknown flag --dry'],
])('refuses %j as wrong usage, without repeating the password', async (args, problem) => {
  const { code, text, wish } = await wishOf(args)
  expect(code).toBe(2)
  expect(text).toContain(problem)
  expect(text).not.toContain('secret')
  expect(wish).toBeUndefined()
})

test('a password file that cannot be read is named', async () => {
  const { code, text } = await wishOf(['--database', ADDRESS, '--database-password-file', 'gone.txt'])
  expect(code).toBe(2)
  expect(text).toContain('gone.txt')
})
