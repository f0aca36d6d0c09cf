// Finding the service that is installed, and what it runs with.

import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findIn, type InstalledService } from '../../src/install/installed.ts'
import { unitFor } from '../../src/install/systemd.ts'
import { createTrial } from '../cli/trial.ts'

const SERVICE: InstalledService = {
  scope: 'machine',
  definition: '/etc/systemd/system/oncebox.service',
  envFile: '/etc/oncebox/oncebox.env',
  variables: { ONCEBOX_DATA_DIR: '/var/lib/oncebox' },
  problems: [],
}

/** A home with the unit of a user's service and its file of settings. */
function newHome(unit: string): { home: string; definition: string; envFile: string } {
  const home = mkdtempSync(join(tmpdir(), 'oncebox-home-'))
  const definition = join(home, '.config/systemd/user/oncebox.service')
  const envFile = join(home, '.config/oncebox/oncebox.env')
  for (const path of [definition, envFile]) mkdirSync(dirname(path), { recursive: true })
  writeFileSync(definition, unit)
  writeFileSync(envFile, 'ONCEBOX_PORT=2\nexport ONCEBOX_LAN=true\nONCEBOX_DATA_DIR=/srv/mine\n')
  return { home, definition, envFile }
}

const OWN_UNIT = unitFor({
  scope: 'user',
  places: { executable: '/opt/oncebox', envFile: '/opt/oncebox.env' },
  ...{
    dataDir: '/srv',
    keyFile: null,
    tlsAuthorityKey: null,
    logFile: null,
    auditLog: null,
    backupDir: null,
  },
  usesLowPort: false,
})

test("a user's service is found with its settings file", () => {
  const { home, definition, envFile } = newHome(OWN_UNIT)
  const place = { env: {}, platform: 'linux' as const, home, cwd: '/' }
  expect(findIn('user', place)).toEqual({
    scope: 'user',
    ...{ definition, envFile },
    variables: { ONCEBOX_PORT: '2', ONCEBOX_DATA_DIR: '/srv/mine' },
    problems: [expect.stringContaining(`${envFile}: line 2: `)],
  })
  writeFileSync(envFile, '')
  expect(findIn('user', place)?.variables).toEqual({ ONCEBOX_DATA_DIR: join(home, '.local/share/oncebox') })
  rmSync(envFile)
  expect(findIn('user', place)).toBeNull()
  rmSync(home, { recursive: true })
})

test('a unit written by the operator is not taken for the installed one', () => {
  const { home } = newHome('[Service]\nExecStart=/usr/bin/oncebox serve --data-dir /srv/box\n')
  expect(findIn('user', { env: {}, platform: 'linux', home, cwd: '/' })).toBeNull()
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
])('a data folder named by %s takes precedence over the service', async (_, flags, env) => {
  const trial = createTrial({ service: SERVICE, env })
  expect(await trial.run('token', 'list', 'ann@x', ...flags)).toBe(0)
  expect(trial.state.dataDir).toBe('/srv/other')
  expect(trial.text()).not.toContain('installed service')
})

test('"trust" of another machine ignores the service of this one', async () => {
  const trial = createTrial({ service: SERVICE })
  await trial.run('trust', 'http://127.0.0.1:1', '--fingerprint', 'AB')
  expect(trial.text()).not.toContain('installed service')
})
