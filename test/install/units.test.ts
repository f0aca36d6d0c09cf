// The unit files for service managers, checked with systemd's own tools where they are installed.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchdJob } from '../../src/install/launchd.ts'
import { unitFor } from '../../src/install/systemd.ts'
import { windowsTask } from '../../src/install/windows.ts'
import { needs } from '../support/needs.ts'

const FACTS = {
  scope: 'machine' as const,
  // systemd checks that the executable exists.
  places: { executable: '/bin/true', envFile: '/etc/oncebox/oncebox.env' },
  dataDir: '/var/lib/oncebox',
  ...{ keyFile: null, tlsAuthorityKey: null, logFile: null, auditLog: null, backupDir: null },
  usesLowPort: false,
}
const systemUnit = (facts: Partial<Parameters<typeof unitFor>[0]> = {}) => unitFor({ ...FACTS, ...facts })
const userUnit = () => unitFor({ ...FACTS, scope: 'user' })

function analyze(words: string[], unit: string) {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-unit-'))
  const path = join(folder, 'oncebox.service')
  writeFileSync(path, unit)
  const { exitCode, stdout, stderr } = Bun.spawnSync(['systemd-analyze', ...words, path])
  rmSync(folder, { recursive: true })
  return { exitCode, said: `${stdout}${stderr}` }
}

const UNITS: [string, string][] = [
  ['as usual', systemUnit()],
  ['with a port below 1024', systemUnit({ usesLowPort: true })],
  ['with folders of its own', systemUnit({ dataDir: '/srv/once 100%', logFile: '/var/log/oncebox/x.log' })],
]

needs('systemd-analyze').describe('systemd', () => {
  test.each(UNITS)('finds no fault in the unit %s', (_, unit) => {
    const { exitCode, said } = analyze(['verify', '--man=no'], unit)
    expect(said.split('\n').filter((line) => line.includes('oncebox.service'))).toEqual([])
    expect(exitCode).toBe(0)
  })

  test.each(UNITS)('rates the exposure of the unit %s below 2', (_, unit) => {
    const { exitCode, said } = analyze(['security', '--offline=true', '--threshold=20', '--no-pager'], unit)
    expect(said).toContain('Overall exposure level')
    expect(exitCode).toBe(0)
  })

  test('finds no fault in the unit of a user', () => {
    const { said } = analyze(['verify', '--user', '--man=no'], userUnit())
    expect(said.split('\n').filter((line) => line.includes('oncebox.service'))).toEqual([])
  })
})

test('only a port below 1024 grants the service a capability and turns off PrivateUsers', () => {
  expect(systemUnit()).toContain('\nCapabilityBoundingSet=\nPrivateUsers=yes\n')
  const low = systemUnit({ usesLowPort: true })
  expect(low).toContain('AmbientCapabilities=CAP_NET_BIND_SERVICE')
  expect(low).not.toContain('PrivateUsers')
})

test('systemd starts it under its own user, reloads it, and does not restart it with wrong settings', () => {
  const unit = systemUnit()
  for (const line of [
    'ExecStart=/bin/true serve',
    'EnvironmentFile=/etc/oncebox/oncebox.env',
    'User=oncebox',
    'StateDirectory=oncebox',
    'RuntimeDirectory=oncebox',
    'ExecReload=/bin/kill -HUP $MAINPID',
    'RestartPreventExitStatus=2',
    'Type=notify',
    'WatchdogSec=60',
    'WantedBy=multi-user.target',
  ])
    expect(unit.split('\n')).toContain(line)
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute/m)
  expect(userUnit()).toContain('WantedBy=default.target')
  expect(userUnit()).not.toContain('User=')
})

test('a folder outside the state folder is writable, with its spaces and percent signs', () => {
  const unit = systemUnit({ dataDir: '/srv/a b%' })
  expect(unit).toContain('ReadWritePaths="-/srv/a b%%"')
  expect(unit).toContain('Environment="ONCEBOX_DATA_DIR=/srv/a b%%"')
  expect(unit).not.toContain('StateDirectory')
})

test('launchd gets a property list that starts at boot as an unprivileged user and escapes names', () => {
  const job = launchdJob({
    executable: '/usr/local/bin/oncebox',
    envFile: '/etc/oncebox/a & b.env',
    dataDir: '/usr/local/var/oncebox',
    logFile: '/var/log/oncebox/oncebox.log',
    user: '_oncebox',
  })
  expect(job).toContain(
    '<string>serve</string><string>--env-file</string><string>/etc/oncebox/a &amp; b.env</string>',
  )
  expect(job).toContain('<key>RunAtLoad</key><true/>')
  expect(job).toContain('<key>UserName</key><string>_oncebox</string>')
})

test('Windows gets a task that starts with the machine, has no time limit, and few privileges', () => {
  const task = windowsTask({
    executable: 'C:\\Program Files\\Oncebox\\oncebox.exe',
    envFile: 'C:\\ProgramData\\Oncebox\\oncebox.env',
    user: null,
  })
  expect(task).toContain('<BootTrigger>')
  expect(task).toContain('<UserId>S-1-5-19</UserId>')
  expect(task).toContain('<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>')
  expect(task).toContain('serve --env-file &quot;C:\\ProgramData\\Oncebox\\oncebox.env&quot;')
  expect(windowsTask({ executable: 'x', envFile: 'y', user: 'PC\\ann' })).toContain('<LogonTrigger>')
})
