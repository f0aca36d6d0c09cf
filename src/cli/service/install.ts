// `oncebox service install`: decides the steps from the settings, and takes or shows them.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { readConfig } from '../../settings/fold.ts'
import type { Place } from '../../settings/parsers.ts'
import type { GivenFlags } from '../../settings/setting.ts'
import { type Config, settings } from '../../settings/table.ts'
import { CommandFailure, UsageError } from '../failures.ts'
import type { Shell } from '../shell.ts'
import { newEnvFile, parseEnvFile, setInEnvFile, type Variables, variablesOf } from './env-file.ts'
import { type InstallFacts, installSteps, SERVICE_USER } from './install-plan.ts'
import { placesFor, type Scope, type ServicePlaces } from './places.ts'
import { restartCommand, serviceLines } from './report.ts'
import { presentStep, takeSteps } from './steps.ts'
import { STATE_FOLDER } from './systemd-unit.ts'

export type InstallOptions = {
  scope: Scope
  flags: GivenFlags
  isDry: boolean
  mayStart: boolean
  shell: Shell
}

/** Throws UsageError for settings that the server would refuse, and CommandFailure when this machine cannot run the service. */
export async function installService(options: InstallOptions): Promise<void> {
  const { scope, isDry, shell } = options
  const facts = gatherFacts(options)
  const steps = installSteps(facts.install)
  if (isDry) {
    for (const line of steps.flatMap(presentStep)) shell.print(line)
    return
  }
  requireRights(facts.install)
  await takeSteps(steps, { isChanged: false, tell: (line) => shell.say(`… ${line}`) })
  shell.print(options.mayStart ? 'The service is installed and runs.' : 'The service is installed.')
  for (const line of serviceLines({ scope, places: facts.install.places, config: facts.config, shell }))
    shell.print(line)
}

function gatherFacts({ scope, flags, mayStart, shell }: InstallOptions): {
  install: InstallFacts
  config: Config
} {
  const { place } = shell
  const self = ownExecutable(shell)
  const places = placesFor(scope, { place, self })
  const envText = envTextFor({ scope, places, flags, place })
  const { variables, problems } = parseEnvFile(envText)
  if (problems.length > 0)
    throw new UsageError(
      problems.map((problem) => `${places.envFile}: ${problem}`),
      'oncebox service install',
    )
  const config = readServiceConfig(variables, { places, shell })
  const ports = [config.port, config.httpPort].filter((port) => typeof port === 'number')
  const install: InstallFacts = {
    scope,
    platform: place.platform,
    places,
    self,
    envText,
    dataDir: config.dataDir,
    keyFile: config.keyFile,
    tlsAuthorityKey: config.tlsAuthorityKey,
    logFile: config.logFile,
    backupDir: config.backupDir,
    usesLowPort: ports.some((port) => port > 0 && port < 1024),
    hasUser: place.platform === 'darwin' ? hasMacUser() : hasLinuxUser(),
    isManaged: place.platform !== 'linux' || existsSync('/run/systemd/system'),
    mayStart,
    userName: place.platform === 'win32' ? windowsUser(place) : String(process.getuid?.() ?? ''),
    freeId: place.platform === 'darwin' ? freeMacId() : 0,
  }
  return { install, config }
}

function ownExecutable({ self }: Shell): string {
  const [program, ...entry] = self
  if (program === undefined || entry.length > 0)
    throw new CommandFailure(
      'Only the built executable can be installed: "npm run build", then dist/oncebox service install.',
    )
  return existsSync(program) ? realpathSync(program) : program
}

function envTextFor(given: { scope: Scope; places: ServicePlaces; flags: GivenFlags; place: Place }): string {
  const { scope, places, flags, place } = given
  const text = existsSync(places.envFile)
    ? readExisting(places.envFile)
    : newEnvFile(restartCommand(scope, place.platform))
  const changed = setInEnvFile(text, variablesOf(settings, flags))
  if (place.platform !== 'win32') return changed
  // A Windows task has no variables of its own and no place for its output.
  const { variables: known } = parseEnvFile(changed)
  const missing = { ONCEBOX_DATA_DIR: places.dataDir, ONCEBOX_LOG_FILE: places.logFile ?? '' }
  return setInEnvFile(changed, { ...missing, ...pick(known, Object.keys(missing)) })
}

function pick(variables: Variables, names: readonly string[]): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names.includes(name)))
}

function readExisting(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new CommandFailure(
      `${path} is there and cannot be read: run this as root, as in "sudo oncebox service install".`,
    )
  }
}

/** Reads the settings as the service will, ignoring the environment of this command. */
export function readServiceConfig(
  variables: Variables,
  { places, shell }: { places: ServicePlaces; shell: Pick<Shell, 'place' | 'readFile' | 'say'> },
): Config {
  const env = { ONCEBOX_DATA_DIR: places.dataDir, ...variables }
  const place = { ...shell.place, cwd: '/', env }
  const { config, problems = [], warnings } = readConfig({ flags: {}, place, readFile: shell.readFile })
  for (const warning of warnings) shell.say(`oncebox: warning: ${warning}`)
  const all = [...problems, ...hiddenPaths(variables, { places, platform: place.platform })]
  if (config === undefined || all.length > 0) throw new UsageError(all, 'oncebox service install')
  return config
}

/** The folders that a service of the machine cannot see: it has no homes, and a temporary folder of its own. */
const HIDDEN = /^\/(home|root|run\/user|tmp|var\/tmp)(\/|$)/

function hiddenPaths(
  variables: Variables,
  { places, platform }: { places: ServicePlaces; platform: NodeJS.Platform },
): string[] {
  if (platform !== 'linux' || !places.definition.startsWith('/etc/')) return []
  return Object.entries(variables).flatMap(([name, value]) =>
    name.startsWith('ONCEBOX_') && HIDDEN.test(value)
      ? [
          `${name} ${JSON.stringify(value)}: a service of this machine cannot see /home, /root and /tmp; choose another place, such as ${STATE_FOLDER} or /srv`,
        ]
      : [],
  )
}

/** Throws CommandFailure when root and another user would have to change places. */
export function requireScope(
  scope: Scope,
  { platform, command }: { platform: NodeJS.Platform; command: string },
): void {
  if (platform === 'win32' || (scope === 'machine') === (process.geteuid?.() === 0)) return
  throw new CommandFailure(
    scope === 'machine'
      ? `Only root can ${command} a service of this machine: "sudo oncebox service ${command}". For you alone, add --user.`
      : 'Root has no service of its own user: leave --user out, or run this as that user.',
  )
}

function requireRights({ scope, platform, isManaged, mayStart, dataDir }: InstallFacts): void {
  requireScope(scope, { platform, command: 'install' })
  if (!isManaged && mayStart) {
    throw new CommandFailure(
      'systemd does not run on this machine, so it has no service to start. Start "oncebox serve" by what starts programs here ' +
        '(OpenRC, runit, a container), or add --no-start to install the unit only. Nothing was changed.',
    )
  }
  if (platform === 'linux' && scope === 'machine') requireOwner(dataDir)
}

/** systemd gives its state folder to the user of the service. Any other folder must belong to that user already. */
function requireOwner(dataDir: string): void {
  const found = statSync(dataDir, { throwIfNoEntry: false })
  if (dataDir === STATE_FOLDER || found === undefined || found.uid === idOfLinuxUser()) return
  throw new CommandFailure(
    `${dataDir} does not belong to the user ${SERVICE_USER}, whom the service runs as. Stop what uses it, then: ` +
      `chown -R ${SERVICE_USER}: ${dataDir} (the user is made by "oncebox service install --no-start"). Nothing was changed.`,
  )
}

function idOfLinuxUser(): number | null {
  if (!existsSync('/etc/passwd')) return null
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${SERVICE_USER}:`))
  return line === undefined ? null : Number(line.split(':')[2])
}

function hasLinuxUser(): boolean {
  return idOfLinuxUser() !== null
}

function windowsUser({ env }: Place): string {
  const domain = env.USERDOMAIN ?? ''
  return `${domain}${domain && '\\'}${userInfo().username}`
}

function hasMacUser(): boolean {
  try {
    execFileSync('dscl', ['.', '-read', '/Users/_oncebox'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** macOS keeps the numbers from 200 to 400 for services. */
function freeMacId(): number {
  const listed = execFileSync('dscl', ['.', '-list', '/Users', 'UniqueID'], { encoding: 'utf8' })
  const taken = new Set(listed.split('\n').map((line) => Number(line.trim().split(/\s+/).at(-1))))
  return Array.from({ length: 200 }, (_, index) => 399 - index).find((id) => !taken.has(id)) ?? 399
}
