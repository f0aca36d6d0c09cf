// The effects of an installation on each system, decided before anything is changed.

import { describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COMMANDS } from '../../src/cli/commands.ts'
import { placesFor, systemOf } from '../../src/install/places.ts'
import { requireRights } from '../../src/install/service.ts'
import type { InstallFacts, Scope } from '../../src/install/service-system.ts'
import { type InstallStep, presentStep, takeSteps } from '../../src/install/steps.ts'
import { createTrial } from '../cli/trial.ts'

function factsOf(platform: NodeJS.Platform, scope: Scope, more: Partial<InstallFacts> = {}): InstallFacts {
  const home = platform === 'win32' ? 'C:\\Users\\ann' : '/home/ann'
  const places = placesFor(scope, {
    os: { env: {}, platform, home, cwd: '/' },
    self: '/srv/oncebox',
  })
  return {
    ...{
      scope,
      places,
      self: '/srv/oncebox',
      envText: 'ONCEBOX_PORT=5100\n',
      dataDir: places.dataDir,
    },
    ...{
      keyFile: null,
      tlsAuthorityKey: null,
      logFile: null,
      auditLog: null,
      backupDir: null,
      usesLowPort: false,
      hasUser: false,
      isManaged: true,
    },
    ...{ mayStart: true, userName: '501', freeId: 399 },
    ...more,
  }
}

const installSteps = (platform: NodeJS.Platform, facts: InstallFacts) =>
  systemOf(platform).installSteps(facts)
const uninstallSteps = (platform: NodeJS.Platform, facts: InstallFacts) =>
  systemOf(platform).uninstallSteps(facts)

const shown = (steps: readonly InstallStep[]) =>
  steps.flatMap(presentStep).filter((line) => !line.startsWith('  '))

describe('on Linux', () => {
  test('the machine gets a user, the program, a private settings file and a unit, and starts it', () => {
    expect(shown(installSteps('linux', factsOf('linux', 'machine')))).toEqual([
      'run useradd --system --user-group --no-create-home --home-dir /var/lib/oncebox --shell /usr/sbin/nologin oncebox',
      'copy /srv/oncebox to /usr/local/bin/oncebox (0755)',
      'make the folder /etc/oncebox (0750, root:oncebox)',
      'write /etc/oncebox/oncebox.env (0640, root:oncebox):',
      'write /etc/systemd/system/oncebox.service (0644):',
      'run systemctl daemon-reload',
      'run systemctl enable oncebox.service',
      'run systemctl restart oncebox.service',
      'run systemctl start oncebox.service',
    ])
  })

  test('a user needs no root', () => {
    expect(shown(installSteps('linux', factsOf('linux', 'user')))).toEqual([
      'copy /srv/oncebox to /home/ann/.local/bin/oncebox (0755)',
      'make the folder /home/ann/.config/oncebox (0700)',
      'write /home/ann/.config/oncebox/oncebox.env (0600):',
      'write /home/ann/.config/systemd/user/oncebox.service (0644):',
      'run systemctl --user daemon-reload',
      'run systemctl --user enable oncebox.service',
      'run loginctl enable-linger',
      'run systemctl --user restart oncebox.service',
      'run systemctl --user start oncebox.service',
    ])
  })

  test('the program of a package stays where it is', () => {
    const os = { env: {}, platform: 'linux' as const, home: '/root', cwd: '/' }
    expect(placesFor('machine', { os, self: '/usr/bin/oncebox' }).executable).toBe('/usr/bin/oncebox')
  })

  test('folders in other places are created and made writable for the service', () => {
    const facts = {
      dataDir: '/srv/box',
      keyFile: '/etc/keys/box.key',
      logFile: '/var/log/oncebox/x.log',
      backupDir: '/mnt/backup/box',
      hasUser: true,
    }
    const lines = installSteps('linux', factsOf('linux', 'machine', facts)).flatMap(presentStep)
    for (const path of ['/srv/box', '/mnt/backup/box'])
      expect(lines).toEqual(
        expect.arrayContaining([
          `make the folder ${path} (0700, oncebox:oncebox)`,
          `run chown oncebox: ${path}`,
        ]),
      )
    const paths = ['/srv/box', '/mnt/backup/box', '/etc/keys'].map((path) => `ReadWritePaths=-${path}`)
    for (const line of [...paths, 'LogsDirectory=oncebox']) expect(lines).toContain(`  ${line}`)
  })

  test('uninstalling touches neither data nor settings', () => {
    expect(shown(uninstallSteps('linux', factsOf('linux', 'machine')))).toEqual([
      'run systemctl disable --now oncebox.service',
      'remove /etc/systemd/system/oncebox.service',
      'run systemctl daemon-reload',
    ])
  })
})

test('macOS gets a daemon of the machine, or an agent of the user', () => {
  const machine = shown(installSteps('darwin', factsOf('darwin', 'machine')))
  expect(machine).toContain('write /Library/LaunchDaemons/io.oncebox.plist (0644):')
  expect(machine).toContain('run dscl . -create /Users/_oncebox UniqueID 399')
  expect(machine.at(-1)).toBe('run launchctl bootstrap system /Library/LaunchDaemons/io.oncebox.plist')
  expect(shown(installSteps('darwin', factsOf('darwin', 'user'))).at(-1)).toBe(
    'run launchctl bootstrap gui/501 /home/ann/Library/LaunchAgents/io.oncebox.plist',
  )
})

test('Windows gets a task, and a folder that users cannot read', () => {
  const steps = shown(installSteps('win32', factsOf('win32', 'machine')))
  expect(steps).toContain('copy /srv/oncebox to C:\\Program Files\\Oncebox\\oncebox.exe (0755)')
  expect(steps.find((line) => line.includes('icacls'))).toContain('/inheritance:r')
  expect(steps.at(-1)).toBe('run schtasks /Run /TN Oncebox')
})

test('repeated steps change and restart nothing, and remove leftovers of a killed run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-steps-'))
  writeFileSync(join(folder, 'from'), 'program')
  const marker = join(folder, 'ran')
  const steps: InstallStep[] = [
    { do: 'folder', path: join(folder, 'a'), mode: 0o750 },
    { do: 'copy', from: join(folder, 'from'), to: join(folder, 'a/b/program'), mode: 0o755 },
    { do: 'write', path: join(folder, 'a/settings'), mode: 0o640, text: 'A=1\n' },
    {
      do: 'run',
      command: [process.execPath, '-e', `require('fs').writeFileSync(${JSON.stringify(marker)}, '')`],
      onlyIf: 'changed',
    },
  ]
  const told: string[] = []
  const take = () => takeSteps(steps, (line) => told.push(line))
  await take()
  expect([
    statSync(join(folder, 'a')).mode & 0o777,
    statSync(join(folder, 'a/settings')).mode & 0o777,
  ]).toEqual([0o750, 0o640])
  expect(readFileSync(join(folder, 'a/b/program'), 'utf8')).toBe('program')
  expect(told).toHaveLength(4)
  rmSync(marker)
  told.length = 0
  const left = join(folder, 'a/settings.oncebox-new')
  writeFileSync(left, 'PASSWORD=of a killed run')
  await take()
  expect([existsSync(marker), told, existsSync(left)]).toEqual([false, [], false])
  rmSync(folder, { recursive: true })
})

test('the message for a failed command contains the command and its output', async () => {
  const steps: InstallStep[] = [
    { do: 'run', command: [process.execPath, '-e', 'console.error("no such unit"); process.exit(5)'] },
  ]
  await expect(takeSteps(steps, () => undefined)).rejects.toThrow('failed: no such unit')
})

describe('the command line', () => {
  test('a dry run prints every file and command, with settings from flags and the capability for low ports', async () => {
    const trial = createTrial()
    expect(
      await trial.run(
        'service',
        'install',
        '--dry-run',
        '--port',
        '443',
        '--base-url',
        'https://once.example',
      ),
    ).toBe(0)
    const text = trial.out.join('\n')
    expect(text).toContain('  ONCEBOX_PORT=443')
    expect(text).toContain('  ONCEBOX_BASE_URL=https://once.example')
    expect(text).toContain('  AmbientCapabilities=CAP_NET_BIND_SERVICE')
    expect(text).toContain('run systemctl enable oncebox.service')
  })

  test('settings that the server would refuse are refused before anything is changed', async () => {
    const trial = createTrial()
    expect(await trial.run('service', 'install', '--port', 'x', '--data-dir', '/home/ann/box')).toBe(2)
    expect(trial.text()).toContain('ONCEBOX_PORT "x"')
    expect(await trial.run('service', 'install', '--data-dir', '/home/ann/box')).toBe(2)
    expect(trial.text()).toContain('cannot see /home')
  })

  test('a path is written as absolute, because the service runs in another folder', async () => {
    const trial = createTrial()
    expect(
      await trial.run('service', 'install', '--dry-run', '--data-dir', 'rel', '--key-file', '../k'),
    ).toBe(0)
    expect(trial.text()).toContain('  ONCEBOX_DATA_DIR=/srv/rel')
    expect(trial.text()).toContain('  ONCEBOX_KEY_FILE=/k')
  })

  test('a dry run of uninstalling lists nothing if nothing is installed', async () => {
    const trial = createTrial({ home: '/nonexistent' })
    expect(await trial.run('service', 'uninstall', '--user', '--dry-run')).toBe(0)
    expect(trial.out).toEqual([expect.stringContaining('is not installed')])
  })

  test('a program that runs from source cannot be installed', async () => {
    const trial = createTrial()
    trial.shell.self = ['bun', 'src/main.ts']
    expect(await trial.run('service', 'install')).toBe(1)
    expect(trial.text()).toContain('npm run build')
  })

  test('serve and config read settings from a file, and variables take precedence', async () => {
    const trial = createTrial({ env: { ONCEBOX_HOST: '::1' } })
    trial.shell.readFile = (path) => {
      if (path === '/etc/odd.env') return 'export ONCEBOX_LAN=true\nONCEBOX_PORT=1\nONCEBOX_HOST: ::1\n'
      if (path === '/etc/box.env') return 'ONCEBOX_PORT=8080\nONCEBOX_HOST=127.0.0.1\n'
      throw Object.assign(new Error('no'), { code: 'ENOENT' })
    }
    expect(await trial.run('serve', '--env-file', '/etc/none.env')).toBe(2)
    expect(trial.text()).toContain('--env-file "/etc/none.env": must name a readable file')
    expect(await trial.run('serve', '--env-file', '/etc/odd.env')).toBe(2)
    expect(trial.text()).toContain('--env-file "/etc/odd.env": line 1: must be NAME=value')
    expect(trial.text()).toContain('--env-file "/etc/odd.env": line 3: must be NAME=value')
    expect(await trial.run('config', '--env-file', '/etc/box.env')).toBe(0)
    expect(trial.text()).toMatch(/--port +8080 +ONCEBOX_PORT/)
    expect(trial.text()).toMatch(/--host +::1 +ONCEBOX_HOST/)
  })

  test('every command on a data folder reads settings from a file', async () => {
    const own = COMMANDS.filter(({ flags = {} }) => 'envFile' in flags)
    expect(own.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        ...['serve', 'open', 'health', 'config', 'doctor', 'user list', 'token create', 'backup', 'restore'],
        ...['copy', 'expire-all', 'key rotate', 'trust', 'upgrade', 'import password-pusher'],
      ]),
    )
    for (const { name } of own) {
      const trial = createTrial()
      expect(await trial.run(...name.split(' '), '--help')).toBe(0)
      expect(trial.text()).toContain('  --env-file <file>         File of settings as variables')
    }
    const trial = createTrial()
    trial.shell.readFile = () => 'ONCEBOX_DATA_DIR=/srv/box\n'
    expect(await trial.run('user', 'list', '--env-file', '/etc/box.env')).toBe(0)
    expect(trial.state.dataDir).toBe('/srv/box')
    expect(await trial.run('health', '--env-file', '/etc/box.env')).toBe(1)
    expect(trial.err.at(-1)).toBe('oncebox: No server runs on /srv/box.')
  })

  test.each(['health', 'open', 'doctor'])(
    'the help of %s shows only the flags that it accepts',
    async (name) => {
      const trial = createTrial()
      expect(await trial.run(name, '--help')).toBe(0)
      expect(trial.text()).toContain('--data-dir <folder>')
      expect(trial.text().split('\n').length).toBeLessThan(85)
      if (name !== 'health') expect(trial.text()).toContain('--base-url <url>')
    },
  )
})

test('an empty backup folder is accepted, and one with another user’s files is named with the remedy', () => {
  const backupDir = mkdtempSync(join(tmpdir(), 'oncebox-backups-'))
  const facts = factsOf('linux', 'machine', { backupDir, hasUser: true })
  const install = () => requireRights(facts, 'linux')
  const isRoot = process.getuid?.() === 0
  if (isRoot) expect(install).not.toThrow()
  writeFileSync(join(backupDir, 'of another program'), '')
  expect(install).toThrow(isRoot ? `chown oncebox: ${backupDir}` : 'Only root')
  rmSync(backupDir, { recursive: true })
})
