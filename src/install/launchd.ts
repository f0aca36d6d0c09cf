// The service on macOS: a job of launchd, a daemon of the machine or an agent of one user.

import { posix } from 'node:path'
import type { OperatingSystem } from '../settings/parsers.ts'
import {
  copyOf,
  fillTemplate,
  type InstallFacts,
  LOG_FOLDER,
  run,
  type Scope,
  type ServiceHere,
  type ServicePlaces,
  type ServiceSystem,
} from './service-system.ts'
import type { InstallStep } from './steps.ts'
import job from './templates/io.oncebox.plist.template' with { type: 'text' }

const LABEL = 'io.oncebox'
export const MAC_USER = '_oncebox'

export const LAUNCHD: ServiceSystem = {
  placesFor: (scope, { os }) => placesFor(scope, os),
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

function bootOut(here: ServiceHere): InstallStep {
  return { ...run('launchctl', 'bootout', domainOf(here), here.places.definition), mayFail: true }
}

function placesFor(scope: Scope, os: OperatingSystem): ServicePlaces {
  const library = scope === 'machine' ? '/Library' : posix.join(os.home, 'Library')
  const support = posix.join(library, 'Application Support', 'Oncebox')
  const isMachine = scope === 'machine'
  return {
    executable: isMachine ? '/usr/local/bin/oncebox' : posix.join(os.home, '.local', 'bin', 'oncebox'),
    envFile: isMachine
      ? '/etc/oncebox/oncebox.env'
      : posix.join(os.home, '.config', 'oncebox', 'oncebox.env'),
    definition: posix.join(library, isMachine ? 'LaunchDaemons' : 'LaunchAgents', `${LABEL}.plist`),
    dataDir: isMachine ? '/usr/local/var/oncebox' : support,
    logFile: isMachine ? posix.join(LOG_FOLDER, 'oncebox.log') : posix.join(library, 'Logs', 'oncebox.log'),
  }
}

function installSteps(facts: InstallFacts): InstallStep[] {
  const { scope, places, envText, dataDir, mayStart } = facts
  const isMachine = scope === 'machine'
  const logFile = places.logFile ?? '/dev/null'
  const folders = [dataDir, posix.dirname(logFile)]
  const { executable, envFile } = places
  const text = launchdJob({ executable, envFile, dataDir, logFile, user: isMachine ? MAC_USER : null })
  // Unloads the job first: launchd reads a changed job only when it is loaded again.
  const start: InstallStep[] = [
    { ...bootOut(facts), onlyIf: 'changed' } as InstallStep,
    { ...run('launchctl', 'bootstrap', domainOf(facts), places.definition), onlyIf: 'changed' },
  ]
  return [
    ...(isMachine && !facts.hasUser ? addMacUser(facts.freeId) : []),
    copyOf(facts),
    { do: 'folder', path: posix.dirname(places.envFile), mode: 0o755 },
    { do: 'write', path: places.envFile, mode: 0o600, text: envText },
    ...(isMachine ? [run('chown', MAC_USER, places.envFile)] : []),
    ...folders.map((path): InstallStep => ({ do: 'folder', path, mode: 0o700 })),
    ...(isMachine ? [run('chown', `${MAC_USER}:${MAC_USER}`, ...folders)] : []),
    { do: 'write', path: places.definition, mode: 0o644, text },
    ...(mayStart ? start : []),
  ]
}

function addMacUser(id: number): InstallStep[] {
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

type JobOptions = Pick<ServicePlaces, 'executable' | 'envFile' | 'dataDir'> & {
  logFile: string
  /** The service's user; null for an agent, which runs as the user who signed in. */
  user: string | null
}

export function launchdJob({ user, ...paths }: JobOptions): string {
  const values = Object.entries(paths).map(([name, path]) => [name, Bun.escapeHTML(path)])
  const names = ['UserName', 'GroupName'].map((key) => `  <key>${key}</key><string>${user}</string>`)
  return fillTemplate(job, { ...Object.fromEntries(values), user: user === null ? '' : names.join('\n') })
}
