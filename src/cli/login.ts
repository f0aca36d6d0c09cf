// `oncebox login`, `logout` and `logins`: the user's servers and the API tokens for them.

import type { Command } from 'commander'
import { ClientFailure } from '../client/failure.ts'
import { printableLine } from '../domain/printable.ts'
import { caSettings } from '../settings/client.ts'
import { readSettings } from '../settings/fold.ts'
import { apiToken, profileName, serverUrl } from '../settings/parsers.ts'
import type { App } from './app.ts'
import { confirm } from './ask.ts'
import { agreeOnAuthority, fingerprintProblems } from './authority.ts'
import { hasProxy, namedCaCerts, warnInTheClear } from './client-command.ts'
import { CommandFailure, UsageError } from './failures.ts'
import { addSettingFlags, addTextFlag, givenFlags, readOperands, textFlag } from './flags.ts'
import { type Profile, profilesPath, readProfiles, withProfile, writeProfiles } from './profiles.ts'
import type { Shell } from './shell.ts'
import { alignColumns } from './table.ts'

type Parts = { shell: Shell; app: App }

const GROUP = 'Logins:'
const DEFAULT_NAME = 'default'

export function addLoginCommands(program: Command, parts: Parts): void {
  addLogin(program, parts)
  addLogout(program, parts.shell)
  addLogins(program, parts.shell)
}

function addLogin(program: Command, { shell, app }: Parts): void {
  const command = program
    .command('login')
    .helpGroup(GROUP)
    .usage('URL [flags]')
    .summary('save a server and an API token for it')
    .description(
      'Saves a server and an API token for it, and asks for the token without showing it. With --anonymous it saves no ' +
        `token, and pushes have no owner. The file ${profilesPath(shell.place)} can be read only by you.`,
    )
    .addHelpText(
      'after',
      `
Examples:
  oncebox login https://once.example
  oncebox login nas:5100 --profile home
  oncebox login https://nas --cacert our-authority.pem
  oncebox login https://oncebox.local:5100 --ca-fingerprint AB:CD:…
  pass show once/token | oncebox login https://once.example --token-stdin

To get a token, run "oncebox token create EMAIL" on the server's machine.`,
    )
  addTextFlag(command, '--profile <name>', 'Name for this login (default: "default")')
  command.option('--token-stdin', 'Read the token from standard input')
  command.option('--anonymous', 'Save the server without a token')
  addTextFlag(
    command,
    '--ca-fingerprint <sha256>',
    "Fingerprint of the server's own authority, instead of asking",
  )
  addSettingFlags(command, caSettings)
  command.action(async () => {
    const { server, name, caCerts } = readLogin(command, shell)
    warnInTheClear(server, shell)
    const path = profilesPath(shell.place)
    const known = readProfiles(path).find((profile) => profile.name === name) ?? null
    // Compares the authority before any secret is asked for or sent.
    const agreed = { server, caCerts, known, fingerprint: textFlag(command, 'ca-fingerprint') ?? null }
    const authority = await agreeOnAuthority(agreed, { shell, app })
    const token = await readToken(command, { shell, known })
    await tryLogin({ server, token, caCerts, authority }, { shell, app })
    writeProfiles(
      path,
      withProfile(readProfiles(path), { name, server, apiToken: token, caCerts, authority }),
    )
    shell.say(`Saved as ${name} in ${path}.`)
  })
}

type Login = { server: string; name: string; caCerts: string | null }

function readLogin(command: Command, { place, readFile }: Shell): Login {
  const { operands, problems } = readOperands(command, { names: ['URL'] })
  const [url] = operands
  const server = url === undefined ? null : serverUrl(url)
  const name = profileName(textFlag(command, 'profile') ?? DEFAULT_NAME)
  const reading = readSettings(caSettings, { flags: givenFlags(command, caSettings), place, readFile })
  const caCerts = namedCaCerts(reading)
  const all = [
    ...problems,
    ...(reading.problems ?? []),
    ...('problem' in caCerts ? [caCerts.problem] : []),
    ...(server !== null && 'problem' in server ? [`URL ${JSON.stringify(url)}: ${server.problem}`] : []),
    ...('problem' in name ? [`--profile: ${name.problem}`] : []),
    ...fingerprintProblems(command, 'ca-fingerprint'),
    ...(isContradiction(command) ? ['--anonymous and --token-stdin: give only one of them'] : []),
  ]
  if (all.length > 0 || server === null || 'problem' in server || 'problem' in name || 'problem' in caCerts) {
    throw new UsageError(all, 'oncebox login')
  }
  return { server: server.value, name: name.value, caCerts: caCerts.value }
}

function isContradiction(command: Command): boolean {
  return command.getOptionValue('anonymous') === true && command.getOptionValue('tokenStdin') === true
}

/** Null for an anonymous login. `known` is the login that would be replaced. */
async function readToken(
  command: Command,
  { shell, known }: { shell: Shell; known: Profile | null },
): Promise<string | null> {
  if (command.getOptionValue('anonymous') === true) return null
  if (command.getOptionValue('tokenStdin') === true) {
    const text = (await shell.readInput()).trim()
    if (text !== '') return parseToken(text)
    throw new CommandFailure(
      'Standard input has no token, and nothing was changed. For a login without a token, add --anonymous.',
    )
  }
  if (!shell.isTerminal) {
    throw new CommandFailure(
      'There is no terminal to ask for the token: pipe it in with --token-stdin, or add --anonymous.',
    )
  }
  const text = (await shell.askHidden('API token (empty for none)')).trim()
  if (text !== '') return parseToken(text)
  if (known?.apiToken) await confirm(shell, `The login ${known.name} has a token. Forget it?`)
  return null
}

function parseToken(text: string): string {
  const parsed = apiToken(text)
  if ('problem' in parsed) throw new CommandFailure(`The token ${parsed.problem}.`)
  return parsed.value
}

/** Throws if the server or the token does not work, so that only working logins are saved. */
async function tryLogin(
  { server, token, caCerts, authority }: Omit<Profile, 'name' | 'apiToken'> & { token: string | null },
  { shell, app }: Parts,
): Promise<void> {
  const onWait = (seconds: number) => shell.say(`${server} asks to wait ${seconds} s.`)
  const client = app.openClient({
    server,
    apiToken: token,
    onWait,
    caCerts: caCerts ?? null,
    authority: authority ?? null,
    hasProxy: hasProxy(shell.place.env),
  })
  const { applicationVersion, isOncebox } = await client.version()
  if (token !== null) {
    await client.list('active', 1).catch((cause) => {
      if (cause instanceof ClientFailure && cause.kind === 'refused') {
        throw new ClientFailure('refused', `${server} does not accept this token; nothing was saved.`)
      }
      throw cause
    })
  }
  const name = isOncebox ? 'Oncebox' : 'a server with this API,'
  shell.say(
    `${server} is ${name} ${printableLine(applicationVersion)}${token === null ? '' : ', and the token works'}.`,
  )
}

function addLogout(program: Command, shell: Shell): void {
  const command = program
    .command('logout')
    .helpGroup(GROUP)
    .usage('[flags]')
    .summary('forget a server and its token')
    .description(
      'Forgets a server and its token. The token itself stays valid until it is revoked on the server.',
    )
    .addHelpText('after', '\nExample:\n  oncebox logout --profile home')
  addTextFlag(command, '--profile <name>', 'Name of the login (default: the first one)')
  command.action(() => {
    refuseOperands(command)
    const path = profilesPath(shell.place)
    const profiles = readProfiles(path)
    const wanted = textFlag(command, 'profile')
    const gone = wanted === undefined ? profiles[0] : profiles.find(({ name }) => name === wanted)
    if (gone === undefined) throw new CommandFailure(`There is no login${wanted ? ` called ${wanted}` : ''}.`)
    writeProfiles(
      path,
      profiles.filter((profile) => profile !== gone),
    )
    shell.print(`${gone.name} (${gone.server}) is forgotten`)
  })
}

function addLogins(program: Command, shell: Shell): void {
  const command = program
    .command('logins')
    .helpGroup(GROUP)
    .usage('[flags]')
    .summary('list the servers you are logged in to')
    .description('Lists the servers you are logged in to. Commands use the first one by default.')
  command.action(() => {
    refuseOperands(command)
    const profiles = readProfiles(profilesPath(shell.place))
    const table = alignColumns(['NAME', 'SERVER', 'TOKEN'], profiles.map(rowOf))
    if (profiles.length === 0) shell.say('There are no logins yet: "oncebox login URL" adds one.')
    else for (const line of table) shell.print(line)
  })
}

function rowOf({ name, server, apiToken }: Profile): string[] {
  return [name, server, apiToken === null ? 'none' : `${apiToken.slice(0, 8)}…`]
}

function refuseOperands(command: Command): void {
  const { problems } = readOperands(command, { names: [] })
  if (problems.length > 0) throw new UsageError(problems, `oncebox ${command.name()}`)
}
