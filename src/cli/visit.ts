// Opens a client for the server of a command: the one of a link, a flag, a variable or a login, with what belongs to it.

import type { Client } from '../client/client.ts'
import { ClientFailure } from '../client/failure.ts'
import { isInTheClear, parsePushAddress } from '../client/link.ts'
import type { Environment } from '../settings/parsers.ts'
import type { Given } from './command.ts'
import { printableJson } from './format.ts'
import { chooseServer, profilesPath, readProfiles } from './profiles.ts'
import type { Shell } from './shell.ts'

/** A call to a server, and the push that it concerns. */
export type Visit = {
  client: Client
  server: string
  /** Whether there is a token for this server. */
  isSignedIn: boolean
  /** Empty when the command concerns no push. */
  urlToken: string
}

const PATIENT_TRIES = 100

type Config = {
  server: string | null
  profile: string | null
  cacert: string | null
  apiToken: string | null
}

type Needs = {
  operands?: string
  needsLogin?: boolean
  isPatient?: boolean
  sendsSecrets?: boolean
}

/** Throws ClientFailure when a login is needed and there is none. */
export async function openVisit(given: Given<unknown, Config>, needs: Needs): Promise<Visit> {
  const { operands, config, shell, app } = given
  const { cacert, ...wanted } = config
  const address = needs.operands === 'LINK-OR-TOKEN' ? parsePushAddress(operands[0] ?? '') : null
  const { server: link = null, isSchemeGuessed, urlToken = '' } = address ?? {}
  const profiles = readProfiles(profilesPath(shell.place))
  const chosen = chooseServer(profiles, { link, isSchemeGuessed, ...wanted })
  const { server, apiToken } = chosen
  if (needs.needsLogin && apiToken === null) throw loginNeeded('This needs', server)
  if (needs.sendsSecrets) warnInTheClear(server, shell)
  const client = await app.openClient({
    ...chosen,
    onWait: createTellWait(server, shell),
    ...(needs.isPatient ? { maxTries: PATIENT_TRIES } : {}),
    caCerts: cacert ?? chosen.caCerts,
    // Certificates that are named now replace the authority that was compared at login.
    authority: cacert === null ? chosen.authority : null,
    hasProxy: hasProxy(shell.place.env),
  })
  return { client, server, isSignedIn: apiToken !== null, urlToken }
}

/** Reports a wait once, even if the server asks several requests to wait. */
function createTellWait(server: string, shell: Shell): (seconds: number) => void {
  let until = 0
  return (seconds) => {
    const now = shell.now()
    if (now < until) return
    until = now + seconds * 1000
    shell.say(`${server} is busy and asks to wait ${seconds} s.`)
  }
}

/** `what` starts the sentence. */
export function loginNeeded(what: 'This needs' | 'Files need', server: string): ClientFailure {
  return new ClientFailure('refused', `${what} a login: "oncebox login ${server}".`)
}

/** Whether requests go through a proxy; Bun reads the same variables. */
export function hasProxy(env: Environment): boolean {
  return ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'].some((name) => env[name])
}

export function warnInTheClear(server: string, shell: Shell): void {
  if (isInTheClear(server)) {
    shell.say(
      `oncebox: warning: the connection to ${server} is not encrypted; others on the network can read it.`,
    )
  }
}

/** Prints the server's response, indented, for programs. */
export function printJson(answer: unknown, shell: Shell): void {
  const json = JSON.stringify(answer, null, 2)
  shell.print(shell.isOutputTerminal ? printableJson(json) : json)
}
