// The steps that install a service on each system. All are decided before the first one is taken.

import { posix } from 'node:path'
import { LAUNCHD_LABEL, launchdJob } from './launchd-job.ts'
import type { Scope, ServicePlaces } from './places.ts'
import type { Step } from './steps.ts'
import { LOG_FOLDER, STATE_FOLDER, systemUnit, type UnitOptions, userUnit } from './systemd-unit.ts'
import { LOCAL_SERVICE, windowsTask } from './windows-task.ts'

export type InstallFacts = {
  scope: Scope
  platform: NodeJS.Platform
  places: ServicePlaces
  /** The running executable. */
  self: string
  /** The text of the file of settings, as it will be. */
  envText: string
  /** From the settings, as the following members. */
  dataDir: string
  keyFile: string | null
  tlsAuthorityKey: string | null
  logFile: string | null
  backupDir: string | null
  usesLowPort: boolean
  /** Whether the user of the service exists already, so that its group may read the file of settings. */
  hasUser: boolean
  /** Whether the service manager runs, so that it can be asked to start something. */
  isManaged: boolean
  /** False with --no-start. */
  mayStart: boolean
  /** The user who runs this, `DOMAIN\name` on Windows. */
  userName: string
  /** A free number for a new user on macOS. */
  freeId: number
}

export const SERVICE_USER = 'oncebox'
const MAC_USER = '_oncebox'

export function installSteps(facts: InstallFacts): Step[] {
  if (facts.platform === 'win32') return windowsSteps(facts)
  return facts.platform === 'darwin' ? macSteps(facts) : linuxSteps(facts)
}

function copyOf({ self, places }: InstallFacts): Step {
  return { do: 'copy', from: self, to: places.executable, mode: 0o755 }
}

function linuxSteps(facts: InstallFacts): Step[] {
  const { scope, places, envText, isManaged, mayStart } = facts
  const isMachine = scope === 'machine'
  const systemctl = ['systemctl', ...(isMachine ? [] : ['--user'])]
  const group = isMachine ? { group: SERVICE_USER } : {}
  const folder = posix.dirname(places.envFile)
  const start: Step[] = [
    { do: 'run', command: [...systemctl, 'restart', 'oncebox.service'], onlyIf: 'changed' },
    { do: 'run', command: [...systemctl, 'start', 'oncebox.service'] },
  ]
  return [
    ...(isMachine && !facts.hasUser ? [addUser] : []),
    copyOf(facts),
    { do: 'folder', path: folder, mode: isMachine ? 0o750 : 0o700, ...group },
    { do: 'write', path: places.envFile, mode: isMachine ? 0o640 : 0o600, text: envText, ...group },
    ...ownFolders(facts),
    { do: 'write', path: places.definition, mode: 0o644, text: unitOf(facts) },
    ...(isManaged ? [{ do: 'run', command: [...systemctl, 'daemon-reload'] } as const] : []),
    { do: 'run', command: [...systemctl, 'enable', 'oncebox.service'] },
    // Not every user may linger. The service then starts when the user signs in.
    ...(isMachine || !isManaged
      ? []
      : [{ do: 'run', command: ['loginctl', 'enable-linger'], mayFail: true } as const]),
    ...(mayStart ? start : []),
  ]
}

const addUser: Step = {
  do: 'run',
  command: [
    'useradd',
    '--system',
    '--user-group',
    '--no-create-home',
    '--home-dir',
    STATE_FOLDER,
    '--shell',
    '/usr/sbin/nologin',
    SERVICE_USER,
  ],
}

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

function macSteps(facts: InstallFacts): Step[] {
  const { scope, places, envText, dataDir, mayStart } = facts
  const isMachine = scope === 'machine'
  const owned = isMachine ? { owner: MAC_USER, group: MAC_USER } : {}
  const logFile = places.logFile ?? '/dev/null'
  const domain = isMachine ? 'system' : `gui/${facts.userName}`
  const job = launchdJob({ ...places, dataDir, logFile, user: isMachine ? MAC_USER : null })
  return [
    ...(isMachine && !facts.hasUser ? addMacUser(facts.freeId) : []),
    copyOf(facts),
    { do: 'folder', path: posix.dirname(places.envFile), mode: 0o755 },
    { do: 'write', path: places.envFile, mode: 0o600, text: envText },
    ...(isMachine ? [{ do: 'run', command: ['chown', MAC_USER, places.envFile] } as const] : []),
    { do: 'folder', path: dataDir, mode: 0o700 },
    { do: 'folder', path: posix.dirname(logFile), mode: 0o700 },
    ...('owner' in owned
      ? [
          {
            do: 'run',
            command: ['chown', `${MAC_USER}:${MAC_USER}`, dataDir, posix.dirname(logFile)],
          } as const,
        ]
      : []),
    { do: 'write', path: places.definition, mode: 0o644, text: job },
    ...(mayStart ? startMac(domain, places.definition) : []),
  ]
}

/** Removes the job first, because launchd reads a changed job only when it is loaded again. */
function startMac(domain: string, definition: string): Step[] {
  return [
    { do: 'run', command: ['launchctl', 'bootout', domain, definition], onlyIf: 'changed', mayFail: true },
    { do: 'run', command: ['launchctl', 'bootstrap', domain, definition], onlyIf: 'changed' },
  ]
}

function addMacUser(id: number): Step[] {
  const group = `/Groups/${MAC_USER}`
  const user = `/Users/${MAC_USER}`
  const words = [
    ['-create', group],
    ['-create', group, 'PrimaryGroupID', String(id)],
    ['-create', user],
    ['-create', user, 'UniqueID', String(id)],
    ['-create', user, 'PrimaryGroupID', String(id)],
    ['-create', user, 'UserShell', '/usr/bin/false'],
    ['-create', user, 'NFSHomeDirectory', '/var/empty'],
    ['-create', user, 'IsHidden', '1'],
  ]
  return words.map((rest) => ({ do: 'run', command: ['dscl', '.', ...rest] }))
}

/** Only the service, the system (S-1-5-18) and administrators (S-1-5-32-544) may enter the folder. */
function windowsSteps(facts: InstallFacts): Step[] {
  const { scope, places, envText, mayStart } = facts
  const isMachine = scope === 'machine'
  const settings = places.envFile.slice(0, places.envFile.lastIndexOf('\\'))
  const rights = ['*S-1-5-18', '*S-1-5-32-544', `*${LOCAL_SERVICE}`].flatMap((who) => [
    '/grant:r',
    `${who}:(OI)(CI)F`,
  ])
  const task = windowsTask({ ...places, user: isMachine ? null : facts.userName })
  return [
    copyOf(facts),
    { do: 'folder', path: settings, mode: 0o700 },
    ...(isMachine
      ? [{ do: 'run', command: ['icacls', settings, '/inheritance:r', ...rights] } as const]
      : []),
    { do: 'write', path: places.envFile, mode: 0o600, text: envText },
    { do: 'write', path: places.definition, mode: 0o600, text: task, encoding: 'utf16le' },
    { do: 'run', command: ['schtasks', '/Create', '/F', '/TN', 'Oncebox', '/XML', places.definition] },
    ...(mayStart
      ? ([
          { do: 'run', command: ['schtasks', '/End', '/TN', 'Oncebox'], onlyIf: 'changed', mayFail: true },
          { do: 'run', command: ['schtasks', '/Run', '/TN', 'Oncebox'] },
        ] as const)
      : []),
  ]
}

/** Removes the service, and keeps data, settings and executable. */
export function uninstallSteps({
  scope,
  platform,
  places,
  isManaged,
  userName,
}: Pick<InstallFacts, 'scope' | 'platform' | 'places' | 'isManaged' | 'userName'>): Step[] {
  if (platform === 'win32')
    return [
      { do: 'run', command: ['schtasks', '/End', '/TN', 'Oncebox'], mayFail: true },
      { do: 'run', command: ['schtasks', '/Delete', '/F', '/TN', 'Oncebox'], mayFail: true },
      { do: 'remove', path: places.definition },
    ]
  if (platform === 'darwin') {
    const domain = scope === 'machine' ? 'system' : `gui/${userName}`
    return [
      { do: 'run', command: ['launchctl', 'bootout', domain, places.definition], mayFail: true },
      { do: 'remove', path: places.definition },
    ]
  }
  const systemctl = ['systemctl', ...(scope === 'machine' ? [] : ['--user'])]
  return [
    { do: 'run', command: [...systemctl, 'disable', ...(isManaged ? ['--now'] : []), 'oncebox.service'] },
    { do: 'remove', path: places.definition },
    ...(isManaged ? [{ do: 'run', command: [...systemctl, 'daemon-reload'] } as const] : []),
  ]
}

/** Restarts a running service. Does not start a stopped one. */
export function restartSteps(
  scope: Scope,
  { platform, userName }: Pick<InstallFacts, 'platform' | 'userName'>,
): Step[] {
  if (platform === 'win32')
    return [
      { do: 'run', command: ['schtasks', '/End', '/TN', 'Oncebox'], mayFail: true },
      { do: 'run', command: ['schtasks', '/Run', '/TN', 'Oncebox'] },
    ]
  const domain = scope === 'machine' ? 'system' : `gui/${userName}`
  if (platform === 'darwin')
    return [{ do: 'run', command: ['launchctl', 'kickstart', '-k', `${domain}/${LAUNCHD_LABEL}`] }]
  const systemctl = ['systemctl', ...(scope === 'machine' ? [] : ['--user'])]
  return [{ do: 'run', command: [...systemctl, 'try-restart', 'oncebox.service'] }]
}
