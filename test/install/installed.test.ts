// Finding the service that is installed, and what it runs with.

import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findIn, type InstalledService, parseUnit } from '../../src/install/installed.ts'
import { unitFor } from '../../src/install/systemd.ts'
import { createTrial } from '../cli/trial.ts'

const SERVICE: InstalledService = {
  scope: 'machine',
  definition: '/etc/systemd/system/oncebox.service',
  envFile: '/etc/oncebox/oncebox.env',
  executable: '/usr/local/bin/oncebox',
  variables: { ONCEBOX_DATA_DIR: '/var/lib/oncebox' },
  problems: [],
}

test('an installed unit is read as it was written', () => {
  const unit = unitFor({
    scope: 'machine',
    places: { executable: '/opt/once box/oncebox', envFile: '/etc/oncebox/oncebox.env' },
    dataDir: '/srv/a b%',
    ...{ keyFile: null, tlsAuthorityKey: null, logFile: null, backupDir: null },
    usesLowPort: false,
  })
  expect(parseUnit(unit, '/root')).toEqual({
    executable: '/opt/once box/oncebox',
    envFiles: ['/etc/oncebox/oncebox.env'],
    variables: { ONCEBOX_DATA_DIR: '/srv/a b%' },
    flags: {},
  })
})

test('a unit that an operator wrote may have flags for folder and key, and several files of variables', () => {
  const text =
    '[Service]\n# ExecStart=/no\nEnvironment=A=1 "B=two words"\nEnvironmentFile=-/etc/one\nEnvironmentFile=/etc/two\n' +
    "ExecStart=-/usr/bin/oncebox serve \\\n  --data-dir /srv/box --key-file='/etc/keys/a b'\n"
  expect(parseUnit(text, '/root')).toEqual({
    executable: '/usr/bin/oncebox',
    envFiles: ['-/etc/one', '/etc/two'],
    variables: { A: '1', B: 'two words' },
    flags: { ONCEBOX_DATA_DIR: '/srv/box', ONCEBOX_KEY_FILE: '/etc/keys/a b' },
  })
})

test('a drop-in resets earlier values', () => {
  const text = 'Environment=A=1\nEnvironmentFile=/etc/one\nEnvironment=\nEnvironmentFile=\nEnvironment=B=2\n'
  expect(parseUnit(text, '')).toMatchObject({ variables: { B: '2' }, envFiles: [] })
})

test("a user's unit is found with its drop-ins and its file of settings, which wins over the unit", () => {
  const home = mkdtempSync(join(tmpdir(), 'oncebox-home-'))
  const units = join(home, '.config/systemd/user')
  mkdirSync(join(units, 'oncebox.service.d'), { recursive: true })
  const envFile = join(home, 'oncebox.env')
  writeFileSync(
    join(units, 'oncebox.service'),
    `[Service]\nExecStart=%h/oncebox serve\nEnvironmentFile=%h/oncebox.env\n`,
  )
  writeFileSync(
    join(units, 'oncebox.service.d/10.conf'),
    '[Service]\nEnvironment=ONCEBOX_PORT=1 ONCEBOX_HOST=::\n',
  )
  writeFileSync(envFile, 'ONCEBOX_PORT=2\nexport ONCEBOX_LAN=true\nONCEBOX_DATA_DIR=/srv/mine\n')
  const place = { env: {}, platform: 'linux' as const, home, cwd: '/' }
  expect(findIn('user', place)).toEqual({
    scope: 'user',
    definition: join(units, 'oncebox.service'),
    envFile,
    executable: join(home, 'oncebox'),
    variables: { ONCEBOX_PORT: '2', ONCEBOX_HOST: '::', ONCEBOX_DATA_DIR: '/srv/mine' },
    problems: [expect.stringContaining(`${envFile}: line 2: `)],
  })
  rmSync(envFile)
  expect(findIn('user', place)).toBeNull()
  rmSync(home, { recursive: true })
})

test('account commands find the folder of the installed service, and say so', async () => {
  const trial = createTrial({ service: SERVICE })
  expect(await trial.run('user', 'list')).toBe(0)
  expect(trial.state.dataDir).toBe('/var/lib/oncebox')
  expect(trial.err[0]).toBe(
    'Using the settings of the installed service: /etc/oncebox/oncebox.env (--data-dir names another folder)',
  )
})

test('health asks the server of the installed service, unless a folder is named', async () => {
  const trial = createTrial({ service: SERVICE })
  expect(await trial.run('health')).toBe(1)
  expect(trial.err.at(-1)).toBe('oncebox: No server runs on /var/lib/oncebox.')
  expect(await trial.run('health', '--data-dir', '/srv/other')).toBe(1)
  expect(trial.err.at(-1)).toBe('oncebox: No server runs on /srv/other.')
})

test.each<[string, string[], Record<string, string>]>([
  ['flag', ['--data-dir', '/srv/other'], {}],
  ['variable', [], { ONCEBOX_DATA_DIR: '/srv/other' }],
])('a data folder named by %s wins over the service', async (_, flags, env) => {
  const trial = createTrial({ service: SERVICE, env })
  expect(await trial.run('token', 'list', 'ann@x', ...flags)).toBe(0)
  expect(trial.state.dataDir).toBe('/srv/other')
  expect(trial.text()).not.toContain('installed service')
})

test('"trust" of another machine has nothing to do with the service of this one', async () => {
  const trial = createTrial({ service: SERVICE })
  await trial.run('trust', 'http://127.0.0.1:1', '--fingerprint', 'AB')
  expect(trial.text()).not.toContain('installed service')
})
