// The service on Linux: a unit of systemd, for the machine or for one user.

import { posix } from 'node:path'
import type { OperatingSystem } from '../settings/parsers.ts'
import { defaultDataDir } from '../settings/setting.ts'
import {
  copyOf,
  fillTemplate,
  type InstallFacts,
  LOG_FOLDER,
  PACKAGED,
  run,
  type Scope,
  SERVICE_USER,
  type ServicePlaces,
  type ServiceSystem,
} from './service-system.ts'
import type { InstallStep } from './steps.ts'
import machineOnly from './templates/machine-only.service.template' with { type: 'text' }
import unit from './templates/oncebox.service.template' with { type: 'text' }

const UNIT = 'oncebox.service'

/** The data folder that systemd creates (StateDirectory=), closed to other users. */
export const STATE_FOLDER = '/var/lib/oncebox'

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

function placesFor(scope: Scope, { os, self }: { os: OperatingSystem; self: string }): ServicePlaces {
  if (scope === 'machine')
    return {
      executable: self === PACKAGED ? self : '/usr/local/bin/oncebox',
      envFile: '/etc/oncebox/oncebox.env',
      definition: '/etc/systemd/system/oncebox.service',
      dataDir: STATE_FOLDER,
      logFile: null,
    }
  const { env, home } = os
  const named = env.XDG_CONFIG_HOME ?? ''
  const config = posix.isAbsolute(named) ? named : posix.join(home, '.config')
  return {
    executable: self === PACKAGED ? self : posix.join(home, '.local', 'bin', 'oncebox'),
    envFile: posix.join(config, 'oncebox', 'oncebox.env'),
    definition: posix.join(config, 'systemd', 'user', 'oncebox.service'),
    dataDir: defaultDataDir(os),
    logFile: null,
  }
}

function installSteps(facts: InstallFacts): InstallStep[] {
  const { scope, places, envText, isManaged, mayStart } = facts
  const isMachine = scope === 'machine'
  const group = isMachine ? { group: SERVICE_USER } : {}
  const folder = posix.dirname(places.envFile)
  const start: InstallStep[] = [
    { ...run(...systemctl(scope), 'restart', UNIT), onlyIf: 'changed' },
    run(...systemctl(scope), 'start', UNIT),
  ]
  return [
    ...(isMachine && !facts.hasUser ? [addUser] : []),
    copyOf(facts),
    { do: 'folder', path: folder, mode: isMachine ? 0o750 : 0o700, ...group },
    { do: 'write', path: places.envFile, mode: isMachine ? 0o640 : 0o600, text: envText, ...group },
    ...ownFolders(facts),
    { do: 'write', path: places.definition, mode: 0o644, text: unitFor(facts) },
    ...(isManaged ? [run(...systemctl(scope), 'daemon-reload')] : []),
    run(...systemctl(scope), 'enable', UNIT),
    // Some users may not linger: their service starts when they sign in.
    ...(isMachine || !isManaged ? [] : [{ ...run('loginctl', 'enable-linger'), mayFail: true } as const]),
    ...(mayStart ? start : []),
  ]
}

const addUser = run(
  ...['useradd', '--system', '--user-group', '--no-create-home'],
  ...['--home-dir', STATE_FOLDER, '--shell', '/usr/sbin/nologin', SERVICE_USER],
)

/**
 * Creates the folders that systemd does not: they must exist, owned by the service's user, before it starts.
 */
function ownFolders({ scope, dataDir, backupDir }: InstallFacts): InstallStep[] {
  if (scope === 'user') return []
  const owned = { mode: 0o700, owner: SERVICE_USER, group: SERVICE_USER }
  return [dataDir, backupDir].flatMap((path): InstallStep[] =>
    path === null || path === STATE_FOLDER
      ? []
      : [{ do: 'folder', path, ...owned }, run('chown', `${SERVICE_USER}:`, path)],
  )
}

type UnitFacts = Pick<InstallFacts, 'scope' | 'dataDir' | 'usesLowPort'> &
  Pick<InstallFacts, 'keyFile' | 'tlsAuthorityKey' | 'logFile' | 'auditLog' | 'backupDir'> & {
    places: Pick<ServicePlaces, 'executable' | 'envFile'>
  }

/**
 * Writes the unit. A machine's starts at boot and runs as `oncebox`; a user's starts when the user signs in.
 */
export function unitFor(facts: UnitFacts): string {
  const { scope, places, dataDir } = facts
  const common = { executable: quote(places.executable), envFile: escapePercent(places.envFile) }
  if (scope === 'user')
    return fillTemplate(unit, { ...common, edit: 'systemctl --user edit', target: 'default.target' })
  return fillTemplate(unit, {
    ...common,
    edit: 'systemctl edit',
    target: 'multi-user.target',
    network: 'Wants=network-online.target\nAfter=network-online.target',
    variables: `Environment=${quote(`ONCEBOX_DATA_DIR=${dataDir}`)}`,
    machine: fillTemplate(machineOnly, {
      folders: foldersFor(facts).join('\n'),
      rights: facts.usesLowPort ? LOW_PORT : 'CapabilityBoundingSet=\nPrivateUsers=yes',
    }),
  })
}

/**
 * The service needs a capability to listen below 1024. It must not get PrivateUsers= then, because that would
 * remove the capability in the machine's network namespace.
 */
const LOW_PORT = 'AmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE'

/** Whether `unitFor` wrote the unit. */
export function isOwnUnit(text: string): boolean {
  return text.startsWith(unit.slice(0, unit.indexOf(',')))
}

/** Returns the directives that make folders outside the state folder writable for the service. */
function foldersFor(facts: UnitFacts): string[] {
  const { dataDir, backupDir, keyFile, tlsAuthorityKey, logFile, auditLog } = facts
  const files = [keyFile, tlsAuthorityKey, logFile, auditLog].filter((path) => path !== null)
  const folders = [dataDir, ...(backupDir === null ? [] : [backupDir]), ...files.map(posix.dirname)]
  const isIn = (folder: string) => (path: string) => `${path}/`.startsWith(`${folder}/`)
  const others = folders.filter((path) => !isIn(STATE_FOLDER)(path) && !isIn(LOG_FOLDER)(path))
  return [
    ...(dataDir === STATE_FOLDER ? ['StateDirectory=oncebox', 'StateDirectoryMode=0700'] : []),
    ...(folders.some(isIn(LOG_FOLDER)) ? ['LogsDirectory=oncebox', 'LogsDirectoryMode=0750'] : []),
    ...[...new Set(others)].map((path) => `ReadWritePaths=${quote(`-${path}`)}`),
  ]
}

/** Escape %, which systemd reads as the beginning of a specifier. */
function escapePercent(text: string): string {
  return text.replaceAll('%', '%%')
}

function quote(text: string): string {
  const escaped = escapePercent(text)
  return /^[\w./%@:+=-]+$/.test(escaped) ? escaped : `"${escaped.replace(/["\\]/g, '\\$&')}"`
}
