// Stores logins, the user's servers and API tokens, in a file that only this user can read.

import { mkdirSync, readFileSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { isSameServer } from '../client/link.ts'
import { codeOf, explainSystemError } from '../domain/system-errors.ts'
import type { OperatingSystem } from '../settings/parsers.ts'
import { CommandFailure } from './failures.ts'
import { replaceFile } from './whole-file.ts'

export type Profile = {
  name: string
  server: string
  apiToken: string | null
  /** Additional trusted certificates for this server, in PEM. */
  caCerts?: string | null
  /** The only trusted authority for this server, in PEM. The user compared it at login. */
  authority?: string | null
  /** Whether pushes to this server are end-to-end unless a flag or variable says otherwise. */
  endToEnd?: boolean
}

/** The saved logins; the first one is the default. */
type Profiles = readonly Profile[]

export function profilesPath({ env, platform, home }: OperatingSystem): string {
  if (platform === 'win32') {
    return win32.join(env.APPDATA || win32.join(home, 'AppData', 'Roaming'), 'Oncebox', 'client.json')
  }
  if (platform === 'darwin') return posix.join(home, 'Library', 'Preferences', 'Oncebox', 'client.json')
  const configHome = env.XDG_CONFIG_HOME ?? ''
  const folder = posix.isAbsolute(configHome) ? configHome : posix.join(home, '.config')
  return posix.join(folder, 'oncebox', 'client.json')
}

/**
 * Returns no profiles when there is no file. Throws CommandFailure, naming the file, when it is unreadable.
 */
export function readProfiles(path: string): Profiles {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return []
    throw new CommandFailure(`Your logins in ${path} cannot be read: ${explainSystemError(cause) ?? cause}.`)
  }
  const profiles = parseProfiles(text)
  if (profiles === null) {
    throw new CommandFailure(`${path} is damaged: remove it, then log in again with "oncebox login URL".`)
  }
  return profiles
}

/** Replaces the file atomically: after a crash it is the old or the new one. */
export function writeProfiles(path: string, profiles: Profiles): void {
  const folder = path.includes('\\') ? win32.dirname(path) : posix.dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  replaceFile(path, `${JSON.stringify({ profiles }, null, 2)}\n`, { mode: 0o600 })
}

/** Replaces a profile of the same name, or appends the new one. */
export function withProfile(profiles: Profiles, profile: Profile): Profiles {
  const isKnown = profiles.some(({ name }) => name === profile.name)
  return isKnown
    ? profiles.map((known) => (known.name === profile.name ? profile : known))
    : [...profiles, profile]
}

type ServerChoice = {
  /** The server in the given link, which takes precedence. */
  link: string | null
  /** Whether the link lacked http or https. */
  isSchemeGuessed?: boolean | undefined
  /** The server from a flag or the environment. */
  server: string | null
  profile: string | null
  apiToken: string | null
}

/** The default server. It is an address instead of `localhost`, because another program may listen on ::1. */
const DEFAULT_SERVER = 'http://127.0.0.1:5100'

/**
 * Chooses the server with its token and certificates. Never uses the token or certificates of another server.
 * Throws CommandFailure when the named profile does not exist.
 */
export function chooseServer(profiles: Profiles, wanted: ServerChoice) {
  const named = wanted.profile === null ? null : profiles.find(({ name }) => name === wanted.profile)
  if (named === undefined) throw unknownProfile(profiles, wanted.profile)
  const usual = wanted.server ?? named?.server ?? profiles[0]?.server ?? DEFAULT_SERVER
  const candidates = named === null ? profiles : [named]
  const server = linkedServer(wanted, [usual, ...candidates.map((profile) => profile.server)]) ?? usual
  const known = candidates.find((profile) => isSameServer(profile.server, server))
  const isForServer = wanted.apiToken !== null && isSameServer(server, usual)
  const apiToken = isForServer ? wanted.apiToken : (known?.apiToken ?? null)
  const { caCerts = null, authority = null, endToEnd = false } = known ?? {}
  return { server, apiToken, caCerts, authority, endToEnd }
}

/** Returns the known server with the same host and port, if the link has no scheme. */
function linkedServer({ link, isSchemeGuessed }: ServerChoice, known: readonly string[]): string | null {
  if (link === null || !isSchemeGuessed) return link
  const { host, pathname } = new URL(link)
  const isMeant = (server: string) => new URL(server).host === host && new URL(server).pathname === pathname
  return known.find(isMeant) ?? link
}

function unknownProfile(profiles: Profiles, name: string | null): CommandFailure {
  const names = profiles.map((profile) => profile.name).join(', ') || 'none'
  return new CommandFailure(`There is no login called ${name} (there are: ${names}).`)
}

function parseProfiles(text: string): Profiles | null {
  try {
    const { profiles } = JSON.parse(text)
    return Array.isArray(profiles) && profiles.every(isProfile) ? profiles : null
  } catch {
    return null
  }
}

function isProfile(value: unknown): value is Profile {
  if (typeof value !== 'object' || value === null) return false
  const { name, server, apiToken, caCerts, authority, endToEnd } = value as Record<string, unknown>
  const isToken = apiToken === null || typeof apiToken === 'string'
  const isPem = (pem: unknown) => pem === undefined || pem === null || typeof pem === 'string'
  if (!isPem(caCerts) || !isPem(authority) || (endToEnd !== undefined && typeof endToEnd !== 'boolean'))
    return false
  return typeof name === 'string' && typeof server === 'string' && URL.canParse(server) && isToken
}
