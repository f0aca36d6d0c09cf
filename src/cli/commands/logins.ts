// `oncebox login`, `logout` and `logins`: the user's servers and the API tokens for them.

import { fetchAuthority } from '../../client/authority.ts'
import type { ServerVersion } from '../../client/client.ts'
import { ClientFailure, UnknownAuthority } from '../../client/failure.ts'
import { caSettings } from '../../settings/client.ts'
import { apiToken, profileName } from '../../settings/parsers.ts'
import type { Values } from '../../settings/setting.ts'
import { printableLine } from '../../text/printable.ts'
import { askSecret, confirm, readInput } from '../ask.ts'
import { compareAuthority, fingerprintFlag } from '../authority.ts'
import { type CommandInput, command, toggle, valued } from '../command.ts'
import { CommandFailure } from '../failures.ts'
import { certificates } from '../paths.ts'
import { type Profile, profilesPath, readProfiles, withProfile, writeProfiles } from '../profiles.ts'
import { connect, warnInTheClear } from '../server-command.ts'
import { alignColumns } from '../table.ts'

const heading = 'Logins:'

const flags = {
  profile: valued('profile <name>', profileName),
  tokenStdin: toggle('token-stdin'),
  anonymous: toggle('anonymous'),
  endToEnd: toggle('end-to-end'),
  caFingerprint: fingerprintFlag('ca-fingerprint'),
}
const settings = { cacert: { ...caSettings.cacert, parse: certificates } }

type Login = CommandInput<Values<typeof flags>, Values<typeof settings>>

export const LOGINS = [
  command({
    name: 'login',
    operands: 'URL',
    heading,
    flags,
    oneOf: [['anonymous', 'tokenStdin']],
    settings,
    act: async (given) => {
      const { operands, flags, shell } = given
      const [server = ''] = operands
      const name = flags.profile ?? 'default'
      warnInTheClear(server, shell)
      const path = profilesPath(shell.os)
      const known = readProfiles(path).find((profile) => profile.name === name) ?? null
      // Compare the authority before any secret is asked for or sent.
      const { facts, ...trusted } = await establishTrust(server, known, given)
      const token = await readToken(given, known)
      if (token !== null) await tryToken({ server, apiToken: token, ...trusted }, given)
      const kind = facts.isOncebox ? 'Oncebox' : 'a server with this API,'
      const works = token === null ? '' : ', and the token works'
      shell.say(`${server} is ${kind} ${printableLine(facts.applicationVersion)}${works}.`)
      const login = { name, server, apiToken: token, ...trusted }
      const saved = flags.endToEnd ? { ...login, endToEnd: true } : login
      writeProfiles(path, withProfile(readProfiles(path), saved))
      shell.say(`Saved as ${name} in ${path}.`)
    },
  }),
  command({
    name: 'logout',
    heading,
    flags: { profile: valued('profile <name>', profileName) },
    act: ({ flags: { profile: wanted }, shell }) => {
      const path = profilesPath(shell.os)
      const profiles = readProfiles(path)
      const gone = wanted === null ? profiles[0] : profiles.find(({ name }) => name === wanted)
      if (gone === undefined)
        throw new CommandFailure(`There is no login${wanted ? ` called ${wanted}` : ''}.`)
      writeProfiles(
        path,
        profiles.filter((profile) => profile !== gone),
      )
      shell.print(`${gone.name} (${gone.server}) is forgotten`)
    },
  }),
  command({
    name: 'logins',
    heading,
    act: ({ shell }) => {
      const rows = readProfiles(profilesPath(shell.os)).map(({ name, server, apiToken }) => [
        ...[name, server, apiToken === null ? 'none' : `${apiToken.slice(0, 8)}…`],
      ])
      if (rows.length === 0) shell.say('There are no logins yet: "oncebox login URL" adds one.')
      else shell.print(...alignColumns(['NAME', 'SERVER', 'TOKEN'], ...rows))
    },
  }),
]

type Trusted = { caCerts: string | null; authority: string | null }

/**
 * Resolves to the server's version, for which it sends no token, and to the certificates to trust. `known` is
 * the login that the new one replaces.
 */
async function establishTrust(
  server: string,
  known: Profile | null,
  given: Login,
): Promise<Trusted & { facts: ServerVersion }> {
  const { flags, config } = given
  const { caFingerprint: fingerprint } = flags
  const ask = async (trusted: Trusted) => {
    const client = await connect({ server, apiToken: null, ...trusted }, given)
    return { ...trusted, facts: await client.version() }
  }
  const usual = { caCerts: config.cacert, authority: null }
  const isPinned = fingerprint !== null && server.startsWith('https:')
  let distrust: Error = new CommandFailure(
    `${server} has no authority of its own to compare with --ca-fingerprint.`,
  )
  try {
    if (!isPinned) return await ask(usual)
  } catch (cause) {
    // Offers to trust the server's authority only if no certificates were named.
    if (!(cause instanceof UnknownAuthority && config.cacert === null)) throw cause
    distrust = cause
  }
  const claimed = await fetchAuthority(server)
  if (claimed === null) throw distrust
  const isOther = known?.server === server && known.authority && known.authority !== claimed.certificate
  const warning = isOther ? ' It is NOT THE SAME as at your last login.' : ''
  await compareAuthority(claimed, { server, fingerprint, flag: 'ca-fingerprint', warning }, given.shell)
  return ask({ ...usual, authority: claimed.certificate })
}

/** Throws if the token does not work, so that only working logins are saved. */
async function tryToken(asked: Parameters<typeof connect>[0], given: Login): Promise<void> {
  const client = await connect(asked, given)
  await client.list('active', 1).catch((cause) => {
    if (!(cause instanceof ClientFailure && cause.kind === 'refused')) throw cause
    throw new ClientFailure('refused', `${asked.server} does not accept this token; nothing was saved.`)
  })
}

/** Reads the API token. Resolves to null for an anonymous login. `known` is the login to be replaced. */
async function readToken({ flags, shell }: Login, known: Profile | null): Promise<string | null> {
  if (flags.anonymous) return null
  const secret = {
    ...{ what: 'token', question: 'API token (empty for none)' },
    remedy: 'pipe it in with --token-stdin, or add --anonymous',
  }
  const given = await (flags.tokenStdin ? readInput(shell) : askSecret(shell, secret))
  const text = given?.trim() ?? ''
  if (text !== '') return parseToken(text)
  if (flags.tokenStdin)
    throw new CommandFailure(
      'Standard input has no token, and nothing was changed. For a login without a token, add --anonymous.',
    )
  if (known?.apiToken) await confirm(shell, `The login ${known.name} has a token. Forget it?`)
  return null
}

function parseToken(text: string): string {
  const parsed = apiToken(text)
  if ('problem' in parsed) throw new CommandFailure(`The token ${parsed.problem}.`)
  return parsed.value
}
