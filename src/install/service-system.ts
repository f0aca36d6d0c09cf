// The interface of a service manager (systemd, launchd, Task Scheduler): paths, and the steps that install,
// start and remove the service.

import type { OperatingSystem } from '../settings/parsers.ts'
import type { InstallStep } from './steps.ts'

export type Scope = 'machine' | 'user'

export type ServicePlaces = {
  executable: string
  envFile: string
  /** Unit, property list or task description. */
  definition: string
  /** The data folder, unless the settings name another one. */
  dataDir: string
  /** The path of the log; null when the system keeps the log. */
  logFile: string | null
}

/** The facts about the service on this machine that steps need even without its settings. */
export type ServiceHere = {
  scope: Scope
  places: ServicePlaces
  /** Whether the service manager runs, so that it can start services. */
  isManaged: boolean
  /** The user who runs this, `DOMAIN\\name` on Windows. */
  userName: string
}

export type InstallFacts = ServiceHere & {
  /** The running executable. */
  self: string
  /** The future text of the settings file. */
  envText: string
  /** Read from the settings, like the following members. */
  dataDir: string
  keyFile: string | null
  tlsAuthorityKey: string | null
  logFile: string | null
  auditLog: string | null
  backupDir: string | null
  usesLowPort: boolean
  /** Whether the user of the service exists already. */
  hasUser: boolean
  /** False with --no-start. */
  mayStart: boolean
  /** An unused id for a new user on macOS. */
  freeId: number
}

export type ServiceSystem = {
  /** `self` is the running executable. */
  placesFor(scope: Scope, given: { os: OperatingSystem; self: string }): ServicePlaces
  installSteps(facts: InstallFacts): InstallStep[]
  /** Removes the service, but keeps data, settings and executable. */
  uninstallSteps(here: ServiceHere): InstallStep[]
  /** Restarts a running service. Does not start a stopped one. */
  restartSteps(here: ServiceHere): InstallStep[]
  /** The restart command to show to people. */
  restartCommand(scope: Scope): string
  /** The command that prints the service's state. `running` matches its output while the service runs. */
  stateCommand(here: ServiceHere): string[]
  running: RegExp
}

/** The path of the executable that a system package installs and updates. */
export const PACKAGED = '/usr/bin/oncebox'

/** The user of the service on Linux. */
export const SERVICE_USER = 'oncebox'

/** The folder for the log of a service of the machine. */
export const LOG_FOLDER = '/var/log/oncebox'

export function run(...command: string[]): InstallStep & { do: 'run' } {
  return { do: 'run', command }
}

export function copyOf({ self, places }: InstallFacts): InstallStep {
  return { do: 'copy', from: self, to: places.executable, mode: 0o755 }
}

/** Replaces each `{name}` by its value. Removes a line that holds only an empty value. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const filled = template.replace(/^\{(\w+)\}\n/gm, (line, name) => (values[name] ? line : ''))
  return filled.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')
}
