// The service on Linux: a unit of systemd, for the machine or for one user.

import { posix } from 'node:path'
import type { Place } from '../settings/parsers.ts'
import { defaultDataDir } from '../settings/setting.ts'
import {
  copyOf,
  type InstallFacts,
  LOG_FOLDER,
  PACKAGED,
  run,
  type Scope,
  SERVICE_USER,
  type ServicePlaces,
  type ServiceSystem,
} from './service-system.ts'
import type { Step } from './steps.ts'
import { STATE_FOLDER, systemUnit, type UnitOptions, userUnit } from './systemd-unit.ts'

const UNIT = 'oncebox.service'

export const SYSTEMD: ServiceSystem = {
  placesFor,
  installSteps,
  uninstallSteps: ({ scope, places, isManaged }) => [
    run(...systemctl(scope), 'disable', ...(isManaged ? ['--now'] : []), UNIT),
    { do: 'remove', path: places.definition },
    ...(isManaged ? [run(...systemctl(scope), 'daemon-reload')] : []),
  ],
  restartSteps: ({ scope }) => [run(...systemctl(scope), 'try-restart', UNIT)],
  restartCommand: (scope) =>
    scope === 'machine' ? 'sudo systemctl restart oncebox' : 'systemctl --user restart oncebox',
  stateCommand: ({ scope }) => [...systemctl(scope), 'is-active', UNIT],
  running: /^(active|reloading)$/m,
}

function systemctl(scope: Scope): string[] {
  return ['systemctl', ...(scope === 'user' ? ['--user'] : [])]
}

function placesFor(scope: Scope, { place, self }: { place: Place; self: string }): ServicePlaces {
  if (scope === 'machine')
    return {
      executable: self === PACKAGED ? self : '/usr/local/bin/oncebox',
      envFile: '/etc/oncebox/oncebox.env',
      definition: '/etc/systemd/system/oncebox.service',
      dataDir: STATE_FOLDER,
      logFile: null,
    }
  const { env, home } = place
  const named = env.XDG_CONFIG_HOME ?? ''
  const config = posix.isAbsolute(named) ? named : posix.join(home, '.config')
  return {
    executable: self === PACKAGED ? self : posix.join(home, '.local', 'bin', 'oncebox'),
    envFile: posix.join(config, 'oncebox', 'oncebox.env'),
    definition: posix.join(config, 'systemd', 'user', 'oncebox.service'),
    dataDir: defaultDataDir(place),
    logFile: null,
  }
}

function installSteps(facts: InstallFacts): Step[] {
  const { scope, places, envText, isManaged, mayStart } = facts
  const isMachine = scope === 'machine'
  const group = isMachine ? { group: SERVICE_USER } : {}
  const folder = posix.dirname(places.envFile)
  const start: Step[] = [
    { ...run(...systemctl(scope), 'restart', UNIT), onlyIf: 'changed' },
    run(...systemctl(scope), 'start', UNIT),
  ]
  return [
    ...(isMachine && !facts.hasUser ? [addUser] : []),
    copyOf(facts),
    { do: 'folder', path: folder, mode: isMachine ? 0o750 : 0o700, ...group },
    { do: 'write', path: places.envFile, mode: isMachine ? 0o640 : 0o600, text: envText, ...group },
    ...ownFolders(facts),
    { do: 'write', path: places.definition, mode: 0o644, text: unitOf(facts) },
    ...(isManaged ? [run(...systemctl(scope), 'daemon-reload')] : []),
    run(...systemctl(scope), 'enable', UNIT),
    // Not every user may linger. The service then starts when the user signs in.
    ...(isMachine || !isManaged ? [] : [{ ...run('loginctl', 'enable-linger'), mayFail: true } as const]),
    ...(mayStart ? start : []),
  ]
}

const addUser = run(
  ...['useradd', '--system', '--user-group', '--no-create-home'],
  ...['--home-dir', STATE_FOLDER, '--shell', '/usr/sbin/nologin', SERVICE_USER],
)

/** systemd makes its state folder itself. Other folders have to exist before the service starts. */
function ownFolders({ scope, dataDir, backupDir }: InstallFacts): Step[] {
  if (scope === 'user') return []
  const owned = { mode: 0o700, owner: SERVICE_USER, group: SERVICE_USER }
  return [dataDir, backupDir].flatMap((path): Step[] =>
    path === null || path === STATE_FOLDER ? [] : [{ do: 'folder', path, ...owned }],
  )
}

function unitOf(facts: InstallFacts): string {
  const { scope, places, dataDir, usesLowPort } = facts
  const options: UnitOptions = { ...places, dataDir, writable: writableFolders(facts), usesLowPort }
  return scope === 'machine' ? systemUnit(options) : userUnit(options)
}

/** The folders to make writable, without the state folder, which is writable anyway. */
function writableFolders({ dataDir, keyFile, tlsAuthorityKey, logFile, backupDir }: InstallFacts): string[] {
  const files = [keyFile, tlsAuthorityKey, logFile].filter((path) => path !== null)
  const folders = [
    dataDir,
    ...(backupDir === null ? [] : [backupDir]),
    ...files.map((path) => posix.dirname(path)),
  ]
  const isInside = (path: string, folder: string) => `${path}/`.startsWith(`${folder}/`)
  return [...new Set(folders.map((path) => (isInside(path, LOG_FOLDER) ? LOG_FOLDER : path)))].filter(
    (path) => !isInside(path, STATE_FOLDER),
  )
}
