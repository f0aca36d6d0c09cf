// What the commands that speak to a server share: its address, the token for it, and the push they are about.

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
  /** Of the push that the command is about; empty for commands about none. */
  urlToken: string
  operands: string[]
}

export type ClientCommand = {
  name: string
  summary: string
  help: string
  examples: string
  /** The arguments by the names help shows; LINK-OR-TOKEN comes first when there is one. */
  operands?: string[]
  /** One argument that may be missing. */
  optional?: string
  /** What is wrong with the flags of its own. */
  problems?: (command: Command) => string[]
  /** Whether it makes no sense without a token. */
  needsLogin?: boolean
  /** What is sent is worth a warning when others can listen. */
  sendsSecrets?: boolean
  work: (visit: ClientVisit, command: Command) => Promise<void>
}

const GROUP = 'Hand over and receive:'
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
    const onWait = (seconds: number) =>
      shell.say(`${server} is busy and asks to wait ${seconds} s; then this goes on.`)
    const client = spec.app.openClient({
      ...chosen,
      onWait,
      caCerts: caCerts ?? chosen.caCerts,
      hasProxy: hasProxy(shell.place.env),
    })
    const urlToken = address?.urlToken ?? ''
    await spec.work({ client, server, isSignedIn: apiToken !== null, urlToken, operands: given }, command)
  })
}

/** `what` is the beginning of the sentence. */
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
      `oncebox: warning: ${server} is not encrypted: whoever can listen on the network can read along.`,
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

/** What --cacert or its variable names; null when neither does. */
export function namedCaCerts({ config, entries }: Reading<typeof caSettings>): Parsed<string | null> {
  if (config === undefined || config.cacert === null) return { value: null }
  const read = readCaCerts(config.cacert)
  const from = entries.find(({ setting }) => setting.flag === 'cacert')?.from
  return 'problem' in read ? { problem: `${from} ${JSON.stringify(config.cacert)}: ${read.problem}` } : read
}

/** For programs: the answer of the server as it came, readable. */
export function printJson(answer: unknown, shell: Shell): void {
  const json = JSON.stringify(answer, null, 2)
  shell.print(shell.isOutputTerminal ? printableJson(json) : json)
}
