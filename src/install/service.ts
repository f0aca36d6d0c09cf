// Plans a service of this machine or user: from flags and the file of settings to the steps that install it.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { posix, win32 } from 'node:path'
import { conflict } from '../domain/errors.ts'
import { readConfig } from '../settings/fold.ts'
import { type OperatingSystem, path } from '../settings/parsers.ts'
import { type GivenFlags, type SettingsTable, variableOf } from '../settings/setting.ts'
import { settings } from '../settings/table.ts'
import { newEnvFile, parseEnvFile, setInEnvFile, type Variables } from './env-file.ts'
import { MAC_USER } from './launchd.ts'
import { placesFor, systemOf } from './places.ts'
import { type InstallFacts, type Scope, SERVICE_USER, type ServiceHere } from './service-system.ts'
import { findId } from './steps.ts'
import { STATE_FOLDER } from './systemd.ts'

type ServiceOptions = {
  scope: Scope
  flags: GivenFlags
  /** False with --no-start. */
  mayStart: boolean
  os: OperatingSystem
  /** The command that starts this program. */
  self: readonly string[]
  readFile: (path: string) => string
}

/**
 * Returns the facts that the installation needs, or `problems`: settings that the server would refuse. Throws
 * `conflict` if this program cannot be installed or the settings file cannot be read.
 */
export function planService({ scope, flags, mayStart, ...given }: ServiceOptions) {
  const { os } = given
  const self = ownExecutable(given.self, NOT_BUILT)
  const here = serviceHere(scope, os, self)
  const { places } = here
  const envText = envTextFor(here, flags, os)
  const { variables, problems: unread } = parseEnvFile(envText)
  if (unread.length > 0)
    return { problems: unread.map((problem) => `${places.envFile}: ${problem}`), warnings: [] }
  const { config, problems, warnings } = readServiceConfig(here, variables, given)
  if (config === undefined) return { problems, warnings }
  const { dataDir, keyFile, tlsAuthorityKey, logFile, auditLog, backupDir } = config
  const ports = [config.port, config.httpPort].filter((port) => typeof port === 'number')
  const facts: InstallFacts = {
    ...{ ...here, self, envText, mayStart, dataDir, keyFile, tlsAuthorityKey, logFile, auditLog, backupDir },
    usesLowPort: ports.some((port) => port > 0 && port < 1024),
    ...userFacts(os.platform),
  }
  return { warnings, facts, config }
}

const NOT_BUILT =
  'Only the built executable can be installed: "npm run build", then dist/oncebox service install.'

/** `self` is the running executable. */
export function serviceHere(scope: Scope, os: OperatingSystem, self: string): ServiceHere {
  return {
    scope,
    places: placesFor(scope, { os, self }),
    isManaged: os.platform !== 'linux' || existsSync('/run/systemd/system'),
    userName: os.platform === 'win32' ? windowsUser(os) : String(process.getuid?.() ?? ''),
  }
}

/** Returns the path of the compiled program. Throws `conflict` with `refusal` when Bun runs the sources. */
export function ownExecutable([program = '', ...entry]: readonly string[], refusal: string): string {
  if (program === '' || entry.length > 0) throw conflict(refusal)
  return realOf(program)
}

export function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

function envTextFor({ scope, places }: ServiceHere, flags: GivenFlags, os: OperatingSystem): string {
  const text = existsSync(places.envFile)
    ? readExisting(places.envFile)
    : newEnvFile(systemOf(os.platform).restartCommand(scope))
  const changed = setInEnvFile(text, variablesOf(flags, os))
  if (os.platform !== 'win32') return changed
  // The Task Scheduler sets no variables and keeps no output, so take both from the settings file.
  const { variables: known } = parseEnvFile(changed)
  const missing = { ONCEBOX_DATA_DIR: places.dataDir, ONCEBOX_LOG_FILE: places.logFile ?? '' }
  const absent = Object.entries(missing).filter(([name]) => known[name] === undefined)
  return setInEnvFile(changed, Object.fromEntries(absent))
}

/**
 * Turns the flags of `oncebox service install` into variables. Makes paths absolute, because the service runs
 * in another folder.
 */
export function variablesOf(
  flags: GivenFlags,
  { platform, cwd }: Pick<OperatingSystem, 'platform' | 'cwd'>,
): Variables {
  const { resolve } = platform === 'win32' ? win32 : posix
  const table: SettingsTable = settings
  return Object.fromEntries(
    Object.values(table).flatMap((setting) => {
      const given = flags[setting.flag]
      if (given === undefined) return []
      const value = setting.list ? given.join(',') : (given.at(-1) ?? '')
      const isPath = setting.parse === path && value !== ''
      return [[variableOf(setting), isPath ? resolve(cwd, value) : value]]
    }),
  )
}

function readExisting(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw conflict(`${path} exists but cannot be read. Run this as root: "sudo oncebox service install".`)
  }
}

/** Reads the settings as the service will, ignoring the environment of this command. */
export function readServiceConfig(
  { scope, places }: ServiceHere,
  variables: Variables,
  { os, readFile }: Pick<ServiceOptions, 'os' | 'readFile'>,
) {
  const env = { ONCEBOX_DATA_DIR: places.dataDir, ...variables }
  const sources = { flags: {}, os: { ...os, cwd: '/', env }, readFile }
  const { config, problems = [], warnings } = readConfig(sources)
  const all = [...problems, ...hiddenPaths(scope, os.platform, variables)]
  return { problems: all, warnings, config: all.length > 0 ? undefined : config }
}

/** Paths that a machine-wide unit cannot see: it runs with ProtectHome= and PrivateTmp=. */
const HIDDEN = /^\/(home|root|run\/user|tmp|var\/tmp)(\/|$)/

function hiddenPaths(scope: Scope, platform: NodeJS.Platform, variables: Variables): string[] {
  if (platform !== 'linux' || scope === 'user') return []
  return Object.entries(variables).flatMap(([name, value]) =>
    name.startsWith('ONCEBOX_') && HIDDEN.test(value)
      ? [
          `${name} ${JSON.stringify(value)}: a service of this machine cannot see /home, /root and /tmp; choose another place, such as ${STATE_FOLDER} or /srv`,
        ]
      : [],
  )
}

/** Throws `conflict` unless root manages the machine's service, or a user their own. */
export function requireScope(scope: Scope, platform: NodeJS.Platform, command: string): void {
  if (platform === 'win32' || (scope === 'machine') === (process.geteuid?.() === 0)) return
  throw conflict(
    scope === 'machine'
      ? `Only root can ${command} a service of this machine: "sudo oncebox service ${command}". For you alone, add --user.`
      : 'Root has no service of its own user: leave --user out, or run this as that user.',
  )
}

/** Checks the preconditions before anything is changed. Throws `conflict` if the installation would fail. */
export function requireRights(
  { scope, isManaged, mayStart, dataDir, backupDir }: InstallFacts,
  platform: NodeJS.Platform,
): void {
  requireScope(scope, platform, 'install')
  if (!isManaged && mayStart)
    throw conflict(
      'systemd does not run on this machine, so it has no service to start. Start "oncebox serve" by what starts programs here ' +
        '(OpenRC, runit, a container), or add --no-start to install the unit only. Nothing was changed.',
    )
  if (platform !== 'linux' || scope !== 'machine') return
  requireOwner(dataDir, '-R ')
  if (backupDir !== null) requireOwner(backupDir, '')
}

/**
 * Throws `conflict` unless the service's user owns the folder. Not for systemd's state folder or an empty
 * folder, whose owner systemd or the installation sets.
 */
function requireOwner(folder: string, recursive: '-R ' | ''): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (folder === STATE_FOLDER || found === undefined || found.uid === findId('passwd', SERVICE_USER)) return
  // Ignore lost+found, which the root of a mounted ext4 contains.
  if (found.isDirectory() && readdirSync(folder).every((name) => name === 'lost+found')) return
  throw conflict(
    `${folder} does not belong to the user ${SERVICE_USER}, whom the service runs as. Stop what uses it, then: ` +
      `chown ${recursive}${SERVICE_USER}: ${folder} (the user is made by "oncebox service install --no-start"). Nothing was changed.`,
  )
}

function windowsUser({ env }: OperatingSystem): string {
  const domain = env.USERDOMAIN ?? ''
  return `${domain}${domain && '\\'}${userInfo().username}`
}

function listMacUsers(): Map<string, number> {
  const listed = execFileSync('dscl', ['.', '-list', '/Users', 'UniqueID'], { encoding: 'utf8' })
  const lines = listed.split('\n').map((line) => line.trim().split(/\s+/))
  return new Map(lines.map(([name = '', id]) => [name, Number(id)]))
}

/** macOS reserves user ids from 200 to 400 for services. */
function userFacts(platform: NodeJS.Platform): Pick<InstallFacts, 'hasUser' | 'freeId'> {
  if (platform !== 'darwin') return { hasUser: findId('passwd', SERVICE_USER) !== null, freeId: 0 }
  const users = listMacUsers()
  const taken = new Set(users.values())
  const freeId = Array.from({ length: 200 }, (_, index) => 399 - index).find((id) => !taken.has(id)) ?? 399
  return { hasUser: users.has(MAC_USER), freeId }
}
