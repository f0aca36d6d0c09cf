// The service on macOS: a job of launchd, a daemon of the machine or an agent of one user.

import { posix } from 'node:path'
import type { Place } from '../settings/parsers.ts'
import {
  copyOf,
  escapeXml,
  type InstallFacts,
  LOG_FOLDER,
  run,
  type Scope,
  type ServiceHere,
  type ServicePlaces,
  type ServiceSystem,
} from './service-system.ts'
import type { Step } from './steps.ts'

const LABEL = 'io.oncebox'
const MAC_USER = '_oncebox'

export const LAUNCHD: ServiceSystem = {
  placesFor: (scope, { place }) => placesFor(scope, place),
  installSteps,
  uninstallSteps: (here) => [bootOut(here), { do: 'remove', path: here.places.definition }],
  restartSteps: (here) => [run('launchctl', 'kickstart', '-k', `${domainOf(here)}/${LABEL}`)],
  restartCommand: (scope) =>
    scope === 'machine'
      ? `sudo launchctl kickstart -k system/${LABEL}`
      : `launchctl kickstart -k gui/$UID/${LABEL}`,
  stateCommand: (here) => ['launchctl', 'print', `${domainOf(here)}/${LABEL}`],
  running: /\bstate = running\b/i,
}

function domainOf({ scope, userName }: ServiceHere): string {
  return scope === 'machine' ? 'system' : `gui/${userName}`
}

function bootOut(here: ServiceHere): Step {
  return { ...run('launchctl', 'bootout', domainOf(here), here.places.definition), mayFail: true }
}

function placesFor(scope: Scope, place: Place): ServicePlaces {
  const library = scope === 'machine' ? '/Library' : posix.join(place.home, 'Library')
  const support = posix.join(library, 'Application Support', 'Oncebox')
  const isMachine = scope === 'machine'
  return {
    executable: isMachine ? '/usr/local/bin/oncebox' : posix.join(place.home, '.local', 'bin', 'oncebox'),
    envFile: isMachine
      ? '/etc/oncebox/oncebox.env'
      : posix.join(place.home, '.config', 'oncebox', 'oncebox.env'),
    definition: posix.join(library, isMachine ? 'LaunchDaemons' : 'LaunchAgents', `${LABEL}.plist`),
    dataDir: isMachine ? '/usr/local/var/oncebox' : support,
    logFile: isMachine ? posix.join(LOG_FOLDER, 'oncebox.log') : posix.join(library, 'Logs', 'oncebox.log'),
  }
}

function installSteps(facts: InstallFacts): Step[] {
  const { scope, places, envText, dataDir, mayStart } = facts
  const isMachine = scope === 'machine'
  const logFile = places.logFile ?? '/dev/null'
  const folders = [dataDir, posix.dirname(logFile)]
  const job = launchdJob({ ...places, dataDir, logFile, user: isMachine ? MAC_USER : null })
  // Removes the job first, because launchd reads a changed job only when it is loaded again.
  const start: Step[] = [
    { ...bootOut(facts), onlyIf: 'changed' } as Step,
    { ...run('launchctl', 'bootstrap', domainOf(facts), places.definition), onlyIf: 'changed' },
  ]
  return [
    ...(isMachine && !facts.hasUser ? addMacUser(facts.freeId) : []),
    copyOf(facts),
    { do: 'folder', path: posix.dirname(places.envFile), mode: 0o755 },
    { do: 'write', path: places.envFile, mode: 0o600, text: envText },
    ...(isMachine ? [run('chown', MAC_USER, places.envFile)] : []),
    ...folders.map((path): Step => ({ do: 'folder', path, mode: 0o700 })),
    ...(isMachine ? [run('chown', `${MAC_USER}:${MAC_USER}`, ...folders)] : []),
    { do: 'write', path: places.definition, mode: 0o644, text: job },
    ...(mayStart ? start : []),
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
  return words.map((rest) => run('dscl', '.', ...rest))
}

type JobOptions = {
  executable: string
  envFile: string
  dataDir: string
  logFile: string
  /** Null for an agent, which runs as the user who signed in. */
  user: string | null
}

export function launchdJob({ executable, envFile, dataDir, logFile, user }: JobOptions): string {
  const words = [executable, 'serve', '--env-file', envFile]
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0"><dict>',
    ...entry('Label', string(LABEL)),
    ...entry('ProgramArguments', `<array>${words.map(string).join('')}</array>`),
    ...entry('EnvironmentVariables', `<dict><key>ONCEBOX_DATA_DIR</key>${string(dataDir)}</dict>`),
    ...(user === null ? [] : [...entry('UserName', string(user)), ...entry('GroupName', string(user))]),
    ...entry('RunAtLoad', '<true/>'),
    // launchd waits between starts, because restarting at once does not help against wrong settings (exit code 2).
    ...entry('KeepAlive', '<dict><key>SuccessfulExit</key><false/></dict>'),
    ...entry('ThrottleInterval', '<integer>10</integer>'),
    ...entry('ExitTimeOut', '<integer>20</integer>'),
    ...entry('Umask', '<integer>63</integer>'),
    ...entry('ProcessType', string('Standard')),
    ...entry(
      'SoftResourceLimits',
      '<dict><key>Core</key><integer>0</integer><key>NumberOfFiles</key><integer>65536</integer></dict>',
    ),
    ...entry('HardResourceLimits', '<dict><key>Core</key><integer>0</integer></dict>'),
    ...entry('StandardOutPath', string(logFile)),
    ...entry('StandardErrorPath', string(logFile)),
    '</dict></plist>',
    '',
  ].join('\n')
}

function entry(key: string, value: string): string[] {
  return [`  <key>${key}</key>${value}`]
}

function string(text: string): string {
  return `<string>${escapeXml(text)}</string>`
}
