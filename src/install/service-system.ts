// What the description of a service manager tells: where things are, and the steps to install, start and
// remove the service.

import type { OperatingSystem } from '../settings/parsers.ts'
import type { Step } from './steps.ts'

export type Scope = 'machine' | 'user'

export type ServicePlaces = {
  executable: string
  envFile: string
  /** Unit, property list or task description. */
  definition: string
  /** The data folder, unless the settings name another one. */
  dataDir: string
  /** Null when the system keeps the log. */
  logFile: string | null
}

/** The service on this machine, for the steps that need no settings. */
export type ServiceHere = {
  scope: Scope
  places: ServicePlaces
  /** Whether the service manager runs, so that it can be asked to start something. */
  isManaged: boolean
  /** The user who runs this, `DOMAIN\\name` on Windows. */
  userName: string
}

export type InstallFacts = ServiceHere & {
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
  /** Whether the user of the service exists already. */
  hasUser: boolean
  /** False with --no-start. */
  mayStart: boolean
  /** A free number for a new user on macOS. */
  freeId: number
}

export type ServiceSystem = {
  /** `self` is the running executable. */
  placesFor(scope: Scope, given: { os: OperatingSystem; self: string }): ServicePlaces
  installSteps(facts: InstallFacts): Step[]
  /** Keeps data, settings and executable. */
  uninstallSteps(here: ServiceHere): Step[]
  /** Restarts a running service. Does not start a stopped one. */
  restartSteps(here: ServiceHere): Step[]
  /** The same for people. */
  restartCommand(scope: Scope): string
  /** Prints the state of the service, in which `running` is found when it runs. */
  stateCommand(here: ServiceHere): string[]
  running: RegExp
}

/** The path of an executable that a system package has installed, and keeps up to date. */
export const PACKAGED = '/usr/bin/oncebox'

/** The user of the service on Linux. */
export const SERVICE_USER = 'oncebox'

/** The folder for the log of a service of the machine. */
export const LOG_FOLDER = '/var/log/oncebox'

export function run(...command: string[]): Step & { do: 'run' } {
  return { do: 'run', command }
}

export function copyOf({ self, places }: InstallFacts): Step {
  return { do: 'copy', from: self, to: places.executable, mode: 0o755 }
}

/** Puts values in the places of their names: `{name}`. A line with nothing but an empty value is left out. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const filled = template.replace(/^\{(\w+)\}\n/gm, (line, name) => (values[name] ? line : ''))
  return filled.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')
}
