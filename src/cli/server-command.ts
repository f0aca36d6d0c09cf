// Commands that call a server: choose it by a link, a flag, a variable or a login, with its token and
// authority.

import type { ServerToAsk } from '../client/client.ts'
import { ClientFailure } from '../client/failure.ts'
import { isInTheClear, parseLinkOrToken } from '../client/link.ts'
import { clientSecrets, clientSettings } from '../settings/client.ts'
import type { SettingsTable, Values } from '../settings/setting.ts'
import { readInput } from './ask.ts'
import { type Command, type CommandInput, command } from './command.ts'
import { CommandFailure } from './failures.ts'
import { printableJson } from './format.ts'
import { certificates, STANDARD } from './paths.ts'
import { chooseServer, profilesPath, readProfiles } from './profiles.ts'
import type { Shell } from './shell.ts'

/** The client for the chosen server, and the push or request that the command concerns. */
export type ServerCall = Awaited<ReturnType<typeof openCall>>

/** The settings of every command that calls a server. */
export const callSettings = {
  ...clientSettings,
  cacert: { ...clientSettings.cacert, parse: certificates },
  ...clientSecrets,
}

type Needs = {
  needsLogin?: boolean
  /** Whether the command accepts the link of a request. `only`: accepts no other link. */
  takesRequests?: boolean | 'only'
  /** Whether the command sends so many requests that a server may throttle it often. */
  isPatient?: boolean
  /** Whether to warn if the connection is not encrypted. */
  sendsSecrets?: boolean
}

type ServerCommand<F extends SettingsTable> = Omit<
  Command<F, typeof callSettings>,
  'act' | 'settings' | 'heading'
> &
  Needs & {
    /** Whether to read the link from standard input if no argument is one. */
    pipesLink?(flags: Values<F>): boolean
    act(given: CommandInput<Values<F>> & ServerCall): Promise<void>
  }

/** Defines a command that calls a server. */
export function serverCommand<F extends SettingsTable>({ act, ...row }: ServerCommand<F>): Command {
  return command({
    ...row,
    heading: 'Share and open:',
    settings: callSettings,
    act: async (given) => {
      const [operand = ''] = row.operands?.includes('LINK-OR-TOKEN') ? given.operands : []
      const isPiped = operand === '' && row.pipesLink?.(given.flags) === true
      const link = operand === STANDARD || isPiped ? await readLink(given.shell) : operand
      return act({ ...given, ...(await openCall(link, given, row)) })
    },
  })
}

/** Reads a link or token from standard input, because other users of the machine can see arguments. */
export async function readLink(shell: Shell): Promise<string> {
  if (shell.isInputTerminal) shell.say('Paste the link; end it with Ctrl-D on its own line.')
  const link = (await readInput(shell))?.trim() ?? ''
  if (parseLinkOrToken(link) !== null) return link
  throw new CommandFailure('Standard input holds neither a link nor a token.')
}

const PATIENT_TRIES = 100

export type CallInput = Pick<CommandInput<unknown, Values<typeof callSettings>>, 'config' | 'shell' | 'app'>

/**
 * Opens the client for the server of a link, or for the chosen server if `link` is a token or empty.
 * `urlToken` identifies a push or a request; it is empty if the command needs none. `fragment`: the key in
 * the link. `endToEnd`: whether the login asks for end-to-end pushes. Throws ClientFailure if the command
 * needs a login and there is none.
 */
export async function openCall(linkOrToken: string, { config, shell, app }: CallInput, needs: Needs = {}) {
  const { cacert, ...wanted } = config
  const address = parseLinkOrToken(linkOrToken)
  const { server: link = null, isSchemeGuessed, urlToken = '', isRequest = false } = address ?? {}
  const fragment = address?.fragment ?? null
  if (isRequest && !needs.takesRequests)
    throw new CommandFailure('This is the link of a request, not of a push: see "oncebox requests".')
  if (needs.takesRequests === 'only' && link !== null && !isRequest)
    throw new CommandFailure('This is the link of a push, not of a request: see "oncebox get".')
  const profiles = readProfiles(profilesPath(shell.os))
  const chosen = chooseServer(profiles, { link, isSchemeGuessed, ...wanted })
  const { server, apiToken } = chosen
  if (needs.needsLogin && apiToken === null) throw loginNeeded('This needs', server)
  if (needs.sendsSecrets) warnInTheClear(server, shell)
  const asked = {
    ...chosen,
    ...(needs.isPatient ? { maxTries: PATIENT_TRIES } : {}),
    caCerts: cacert ?? chosen.caCerts,
    // --cacert replaces the authority that was compared at login.
    authority: cacert === null ? chosen.authority : null,
  }
  const client = await connect(asked, { shell, app })
  const { endToEnd } = chosen
  return { client, server, isSignedIn: apiToken !== null, urlToken, isRequest, fragment, endToEnd }
}

/**
 * Opens a client that reports on standard error when the server asks to wait. Bun reads the same variables to
 * choose a proxy.
 */
export function connect(
  asked: Omit<ServerToAsk, 'onWait' | 'hasProxy'>,
  { shell, app }: Pick<CommandInput, 'shell' | 'app'>,
) {
  const { env } = shell.os
  const hasProxy = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'].some((name) => env[name])
  return app.openClient({ ...asked, onWait: createTellWait(asked.server, shell), hasProxy })
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

/** Pauses between tries, in milliseconds, while the server does not answer. The last one repeats. */
const PAUSES = [1, 2, 5, 10, 30, 60].map((seconds) => seconds * 1000)

/** Retries with backoff while the server is unavailable, and reports it. Throws any other failure. */
export async function untilAnswered<T>(ask: () => Promise<T>, shell: Shell): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      const answer = await ask()
      if (failures > 0) shell.say('The server answers again.')
      return answer
    } catch (cause) {
      if (!(cause instanceof ClientFailure && cause.kind === 'unavailable')) throw cause
      if (failures === 0) shell.warn(`${cause.message} Trying again until it answers.`)
      await Bun.sleep(PAUSES[Math.min(failures, PAUSES.length - 1)] ?? 0)
    }
  }
}

/** Returns the failure for a command that needs a login. `what` starts the sentence. */
export function loginNeeded(what: 'This needs' | 'Files need', server: string): ClientFailure {
  return new ClientFailure('refused', `${what} a login: "oncebox login ${server}".`)
}

export function warnInTheClear(server: string, shell: Shell): void {
  if (isInTheClear(server))
    shell.warn(`the connection to ${server} is not encrypted; others on the network can read it.`)
}

/** Prints the server's response, indented, for programs. */
export function printJson(answer: unknown, shell: Shell): void {
  const json = JSON.stringify(answer, null, 2)
  shell.print(shell.isOutputTerminal ? printableJson(json) : json)
}
