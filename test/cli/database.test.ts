// Commands with a PostgreSQL database: those for a data folder refuse it, and say what to do instead.

import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InstalledService } from '../../src/install/installed.ts'
import { createTrial } from './trial.ts'

const URL = 'postgres://oncebox:s3cret@db.example/boxes'
const BY_VARIABLE = { ONCEBOX_DATABASE_URL: URL }
const folder = mkdtempSync(join(tmpdir(), 'oncebox-new-key-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a command for a data folder refuses PostgreSQL, and says what to do instead', () => {
  test.each([
    ['backup', ['backup', '/tmp/box.tar'], 'pg_dump'],
    ['restore', ['restore', '/tmp/box.tar', '--keep-tokens', '--yes'], 'expire-all'],
  ])('oncebox %s', async (_, argv, words) => {
    for (const { env, args, from } of [
      { env: BY_VARIABLE, args: argv, from: 'ONCEBOX_DATABASE_URL' },
      { env: {}, args: [...argv, '--database-url', URL], from: '--database-url' },
    ]) {
      const trial = createTrial({ env })
      expect(await trial.run(...args)).toBe(1)
      const [line = '', ...others] = trial.err
      expect(line).toContain(`the database is PostgreSQL here (${from})`)
      expect(line).toContain(words)
      expect(others).toEqual([])
      expect(trial.text()).not.toContain('s3cret')
    }
  })

  test('the help of these commands does not offer the flag', async () => {
    const trial = createTrial()
    await trial.run('backup', '--help')
    expect(trial.text()).not.toContain('--database-url')
  })
})

describe('oncebox key new', () => {
  test('writes a key that only its owner can read, and never over another file', async () => {
    const path = join(folder, 'instance.key')
    const trial = createTrial()
    expect(await trial.run('key', 'new', path)).toBe(0)
    expect(trial.out.join()).toMatch(/holds a new instance key, fingerprint \S+\.$/)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const text = readFileSync(path, 'utf8')
    expect(text).toMatch(/^1 [0-9a-f]{64}$/m)
    expect(await trial.run('key', 'new', path)).toBe(1)
    expect(trial.text()).toContain('exists already, and was not changed')
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('explains a wrong command line or path', async () => {
    const trial = createTrial()
    expect(await trial.run('key', 'new')).toBe(2)
    expect(trial.text()).toContain('FILE is missing')
    expect(await trial.run('key', 'new', join(folder, 'missing', 'instance.key'))).toBe(1)
    expect(trial.text()).toContain('Cannot write the key file')
    expect(trial.text()).toContain(`mkdir -p ${join(folder, 'missing')}`)
  })
})

describe('account commands', () => {
  test('open the database that a flag, a variable or a file names, with its password', async () => {
    const apart = { ONCEBOX_DATABASE_PASSWORD: 'apart' }
    for (const { env, args } of [
      { env: apart, args: ['--database-url', URL] },
      { env: { ...BY_VARIABLE, ...apart }, args: [] },
    ]) {
      const trial = createTrial({ env })
      expect(await trial.run('user', 'list', ...args)).toBe(0)
      expect(trial.state.database).toMatchObject({ host: 'db.example', password: 'apart' })
      expect(trial.text()).not.toMatch(/s3cret|apart/)
    }
  })

  test('warn of a password on the command line', async () => {
    const trial = createTrial()
    await trial.run('token', 'list', 'ann@example.org', '--database-url', URL)
    expect(trial.err[0]).toContain('ONCEBOX_DATABASE_PASSWORD_FILE')
  })

  test('accept --key-file, which servers need as well', async () => {
    const trial = createTrial()
    const flags = ['--database-url', URL, '--key-file', '/etc/oncebox/instance.key']
    expect(await trial.run('user', 'list', ...flags)).toBe(0)
    expect(await trial.run('token', 'list', 'ann@example.org', ...flags)).toBe(0)
  })

  test('use the database of the installed service, unless another one is named', async () => {
    const service = {
      variables: { ...BY_VARIABLE, ONCEBOX_DATA_DIR: '/srv/box' },
    } as unknown as InstalledService
    const trial = createTrial({ service })
    await trial.run('user', 'list')
    expect(trial.state.database?.host).toBe('db.example')
    await trial.run('user', 'list', '--data-dir', '/other')
    expect(trial.state.database).toBeNull()
    await trial.run('user', 'list', '--database-url', 'postgres://a@other/d')
    expect(trial.state.database?.host).toBe('other')
  })
})

test('oncebox expire-all is for PostgreSQL', async () => {
  const trial = createTrial()
  expect(await trial.run('expire-all', '--yes')).toBe(2)
  expect(trial.text()).toContain('--database-url is missing')
})

test('oncebox expire-all names missing flags before it opens anything', async () => {
  const trial = createTrial({ env: BY_VARIABLE })
  expect(await trial.run('expire-all')).toBe(2)
  expect(trial.text()).toContain('without a terminal to ask, --yes is needed')
  const asked = createTrial({ answers: [], env: { ONCEBOX_DATABASE_URL: 'postgres://a@127.0.0.1:1/d' } })
  expect(await asked.run('expire-all')).toBe(1)
  expect(asked.text()).toContain('nothing answers there')
})

test('oncebox copy names all missing flags before it opens anything, and asks before it retires a source', async () => {
  const trial = createTrial()
  expect(await trial.run('copy')).toBe(2)
  expect(trial.text()).toMatch(
    /3 problems.*--to or --from is missing.*--key-file is missing.*--yes is needed/s,
  )
  expect(await trial.run('copy', '--to', 'postgres://a@b/c', '--from', 'postgres://a@b/c', '--yes')).toBe(2)
  expect(trial.text()).toContain('--to and --from: give only one of them')
  const asked = createTrial({ answers: ['n'] })
  expect(await asked.run('copy', '--to', 'postgres://a@127.0.0.1:1/d', '--key-file', '/none/key')).toBe(1)
  expect(asked.text()).toContain('Nothing was changed.')
})

test('oncebox config shows the address without its password', async () => {
  const trial = createTrial({ env: { ...BY_VARIABLE, ONCEBOX_DATABASE_PASSWORD: 'apart' } })
  expect(await trial.run('config', '--key-file', '/keys/instance.key')).toBe(0)
  expect(trial.text()).toContain('postgres://oncebox@db.example:5432/boxes?sslmode=verify-full')
  expect(trial.text()).not.toMatch(/s3cret|apart/)
})

test('a wrong address is reported without repeating it', async () => {
  const trial = createTrial({ env: { ONCEBOX_DATABASE_URL: `${URL}?sslmode=s3cret` } })
  expect(await trial.run('config')).toBe(2)
  expect(trial.text()).toContain('ONCEBOX_DATABASE_URL (hidden)')
  expect(trial.text()).not.toContain('s3cret')
})
