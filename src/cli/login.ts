// `oncebox login`, `logout` and `logins`: the user's servers and the API tokens for them.

import { ClientFailure } from '../client/failure.ts'
import { printableLine } from '../domain/printable.ts'
import { apiToken } from '../settings/parsers.ts'
import { confirm } from './ask.ts'
import { agreeOnAuthority } from './authority.ts'
import type { Given } from './command.ts'
import { CommandFailure } from './failures.ts'
import { type Profile, profilesPath, readProfiles, withProfile, writeProfiles } from './profiles.ts'
import { alignColumns } from './table.ts'
import { hasProxy, warnInTheClear } from './visit.ts'

type LoginFlags = {
  profile: string | null
  tokenStdin: boolean
  anonymous: boolean
  caFingerprint: string | null
}

type Login = Given<LoginFlags, { cacert: string | null }>

export async function login(given: Login): Promise<void> {
  const { operands, flags, config, shell } = given
  const [server = ''] = operands
  const name = flags.profile ?? 'default'
  const caCerts = config.cacert
  warnInTheClear(server, shell)
  const path = profilesPath(shell.place)
  const known = readProfiles(path).find((profile) => profile.name === name) ?? null
  // Compares the authority before any secret is asked for or sent.
  const authority = await agreeOnAuthority(
    { server, caCerts, known, fingerprint: flags.caFingerprint },
    given,
  )
  const token = await readToken(given, known)
  await tryLogin({ server, token, caCerts, authority }, given)
  writeProfiles(path, withProfile(readProfiles(path), { name, server, apiToken: token, caCerts, authority }))
  shell.say(`Saved as ${name} in ${path}.`)
}

/** Null for an anonymous login. `known` is the login that would be replaced. */
async function readToken({ flags, shell }: Login, known: Profile | null): Promise<string | null> {
  if (flags.anonymous) return null
  if (flags.tokenStdin) {
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
  { shell, app }: Login,
): Promise<void> {
  const onWait = (seconds: number) => shell.say(`${server} asks to wait ${seconds} s.`)
  const client = await app.openClient({
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

export function logout({ flags, shell }: Given<{ profile: string | null }>): void {
  const path = profilesPath(shell.place)
  const profiles = readProfiles(path)
  const wanted = flags.profile
  const gone = wanted === null ? profiles[0] : profiles.find(({ name }) => name === wanted)
  if (gone === undefined) throw new CommandFailure(`There is no login${wanted ? ` called ${wanted}` : ''}.`)
  writeProfiles(
    path,
    profiles.filter((profile) => profile !== gone),
  )
  shell.print(`${gone.name} (${gone.server}) is forgotten`)
}

export function listLogins({ shell }: Given): void {
  const profiles = readProfiles(profilesPath(shell.place))
  if (profiles.length === 0) return void shell.say('There are no logins yet: "oncebox login URL" adds one.')
  const rows = profiles.map(({ name, server, apiToken }) => [
    name,
    server,
    apiToken === null ? 'none' : `${apiToken.slice(0, 8)}…`,
  ])
  for (const line of alignColumns(['NAME', 'SERVER', 'TOKEN'], rows)) shell.print(line)
}
