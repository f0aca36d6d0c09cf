// The common part of commands that call a server: its address, the API token, and the push that they concern.

import type { Command } from 'commander'
import type { Client } from '../client/client.ts'
import { ClientFailure } from '../client/failure.ts'
import { isInTheClear, type PushAddress, parsePushAddress } from '../client/link.ts'
import { type caSettings, clientSecrets, clientSettings } from '../settings/client.ts'
import { type Reading, readSettings } from '../settings/fold.ts'
import type { Environment, Parsed } from '../settings/parsers.ts'
import type { App } from './app.ts'
import { readCaCerts } from './ca-certs.ts'
import { UsageError } from './failures.ts'
import { addSettingFlags, givenFlags, readOperands } from './flags.ts'
import { printableJson } from './format.ts'
import { chooseServer, profilesPath, readProfiles } from './profiles.ts'
import type { Shell } from './shell.ts'

export type ClientParts = { shell: Shell; app: App }

export type ClientVisit = {
  client: Client
  server: string
  /** Whether there is a token for this server. */
  isSignedIn: boolean
  /** The push that the command concerns; empty if it concerns none. */
  urlToken: string
  operands: string[]
}

export type ClientCommand = {
  name: string
  summary: string
  help: string
  examples: string
  /** The arguments, by their names in the help. LINK-OR-TOKEN comes first if there is one. */
  operands?: string[]
  /** One optional argument. */
  optional?: string
  /** Problems with the command's own flags. */
  problems?: (command: Command) => string[]
  /** Whether the command requires a token. */
  needsLogin?: boolean
  /** Whether it asks so often that a server may tell it to wait many times. */
  isPatient?: boolean
  /** Whether to warn if the connection is not encrypted. */
  sendsSecrets?: boolean
  work: (visit: ClientVisit, command: Command) => Promise<void>
}

const GROUP = 'Share and open:'
const PATIENT_TRIES = 100
const LINK = 'LINK-OR-TOKEN'

export function addClientCommand(program: Command, spec: ClientCommand & ClientParts): Command {
  const { operands = [], optional, shell } = spec
  const words = [...operands, ...(optional === undefined ? [] : [`[${optional}]`]), '[flags]']
  const command = program
    .command(spec.name)
    .helpGroup(GROUP)
    .usage(words.join(' '))
    .summary(spec.summary)
    .description(spec.help)
    .addHelpText('after', `\nExamples:\n${spec.examples}`)
  addSettingFlags(command, clientSettings)
  return command.action(async () => {
    const { address, given, wanted, caCerts } = readCommandLine(command, spec)
    const profiles = readProfiles(profilesPath(shell.place))
    const { isSchemeGuessed } = address ?? {}
    const chosen = chooseServer(profiles, { link: address?.server ?? null, isSchemeGuessed, ...wanted })
    const { server, apiToken } = chosen
    if (spec.needsLogin && apiToken === null) throw loginNeeded('This needs', server)
    if (spec.sendsSecrets) warnInTheClear(server, shell)
    const client = spec.app.openClient({
      ...chosen,
      onWait: createTellWait(server, shell),
      ...(spec.isPatient ? { maxTries: PATIENT_TRIES } : {}),
      caCerts: caCerts ?? chosen.caCerts,
      // Certificates that are named now replace the authority that was compared at login.
      authority: caCerts === null ? chosen.authority : null,
      hasProxy: hasProxy(shell.place.env),
    })
    const urlToken = address?.urlToken ?? ''
    await spec.work({ client, server, isSignedIn: apiToken !== null, urlToken, operands: given }, command)
  })
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

function readCommandLine(command: Command, spec: ClientCommand & ClientParts) {
  const { operands = [], optional, shell } = spec
  const names = optional === undefined ? operands : [...operands, optional]
  const { operands: given, problems } = readOperands(command, {
    names,
    optional: optional === undefined ? 0 : 1,
  })
  const [first] = given
  const isAboutPush = operands[0] === LINK
  const address = isAboutPush && first !== undefined ? parsePushAddress(first) : null
  const sources = { flags: givenFlags(command, clientSettings), place: shell.place, readFile: shell.readFile }
  const reading = readSettings(clientSettings, sources)
  const caCerts = namedCaCerts(reading)
  const secrets = readSettings(clientSecrets, { ...sources, flags: {} })
  const all = [
    ...problems,
    ...(isAboutPush && first !== undefined && address === null
      ? [`${LINK}: must be a link such as https://once.example/p/7k3m9q…, or its token`]
      : []),
    ...(spec.problems?.(command) ?? []),
    ...(reading.problems ?? []),
    ...(secrets.problems ?? []),
    ...('problem' in caCerts ? [caCerts.problem] : []),
  ]
  if (
    all.length > 0 ||
    reading.config === undefined ||
    secrets.config === undefined ||
    'problem' in caCerts
  ) {
    throw new UsageError(all, `oncebox ${command.name()}`)
  }
  return {
    address: address satisfies PushAddress | null,
    given,
    wanted: { ...reading.config, ...secrets.config },
    caCerts: caCerts.value,
  }
}

/** The certificates that --cacert or its variable names; null when neither is given. */
export function namedCaCerts({ config, entries }: Reading<typeof caSettings>): Parsed<string | null> {
  if (config === undefined || config.cacert === null) return { value: null }
  const read = readCaCerts(config.cacert)
  const from = entries.find(({ setting }) => setting.flag === 'cacert')?.from
  return 'problem' in read ? { problem: `${from} ${JSON.stringify(config.cacert)}: ${read.problem}` } : read
}

/** Prints the server's response, indented, for programs. */
export function printJson(answer: unknown, shell: Shell): void {
  const json = JSON.stringify(answer, null, 2)
  shell.print(shell.isOutputTerminal ? printableJson(json) : json)
}
