// Fetches the secrets of `oncebox exec`: checks all of its links first, then opens one after another.

import { readSync } from 'node:fs'
import { ClientFailure, LostAnswer } from '../../client/failure.ts'
import { type AgeKeys, readAgeKeys, requireKeys } from '../age-keys.ts'
import { findUnopened } from '../commands/get.ts'
import { CommandFailure } from '../failures.ts'
import { type CallInput, loginNeeded, openCall, type ServerCall } from '../server-command.ts'
import { canBeVariable, openContent } from './content.ts'
import type { PassphraseVariable, Source, Target } from './targets.ts'

/** A link that one or more targets use, with its push. */
type CheckedLink = {
  targets: Target[]
  passphrase: string | null
  client: ServerCall['client']
  /** The token in the link: that of the push, or of a request. */
  linkToken: string
  urlToken: string
  /** The key in the link; null without one. */
  keys: AgeKeys | null
}

/** A secret cannot be opened. `isGone`: its link was already opened, or has ended. */
export class SourceFailure extends CommandFailure {
  readonly isGone: boolean

  constructor(message: string, isGone: boolean) {
    super(message)
    this.isGone = isGone
  }
}

/** Returns how messages call a target; never a link. */
export function nameOf({ use, name }: Target): string {
  return use === 'stdin' ? 'standard input' : name
}

const namesOf = (targets: readonly Target[]) => targets.map(nameOf).join(', ')

/**
 * Checks every link without using up a view. Throws SourceFailure for the first one that cannot be opened.
 */
export async function checkLinks(
  targets: readonly Target[],
  passphrases: readonly PassphraseVariable[],
  call: CallInput,
): Promise<CheckedLink[]> {
  const links = new Map<string, { link: string; isRequest: boolean; targets: Target[] }>()
  const read = createReadSource(call)
  for (const target of targets) {
    const link = await explained([target], async () => read(target.source))
    const { isRequest } = target.source
    const key = `${isRequest} ${link}`
    const known = links.get(key)
    if (known === undefined) links.set(key, { link, isRequest, targets: [target] })
    else known.targets.push(target)
  }
  const checked: CheckedLink[] = []
  for (const link of links.values()) {
    const passphrase = passphraseOf(link.targets, passphrases, call)
    const found = await explained(link.targets, () => checkLink(link, passphrase, call))
    checked.push({ ...found, passphrase, targets: link.targets })
  }
  return checked
}

const MAX_LINK_BYTES = 8192

/** Creates a function that reads the link of a source. A descriptor is read once. */
function createReadSource({ shell }: CallInput): (source: Source) => string {
  const descriptors = new Map<number, string>()
  return (source) => {
    if (source.from === 'text') return source.text
    if (source.from === 'variable') {
      const value = shell.os.env[source.variable]?.trim()
      if (!value) throw new CommandFailure(`the variable ${source.variable} is not set, or empty.`)
      return value
    }
    const { descriptor } = source
    const text = descriptors.get(descriptor) ?? readDescriptor(descriptor)
    descriptors.set(descriptor, text)
    return text
  }
}

function readDescriptor(descriptor: number): string {
  const bytes = Buffer.alloc(MAX_LINK_BYTES)
  let length = 0
  try {
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(descriptor, bytes, length, bytes.length - length, null)
  } catch {
    throw new CommandFailure(`the descriptor ${descriptor} cannot be read.`)
  }
  return bytes.toString('utf8', 0, length).trim()
}

function passphraseOf(
  targets: readonly Target[],
  passphrases: readonly PassphraseVariable[],
  { shell }: CallInput,
): string | null {
  const given = passphrases.find(({ name }) => targets.some((target) => target.name === name))
  return given === undefined ? null : (shell.os.env[given.variable] ?? null)
}

type Link = { link: string; isRequest: boolean }

async function checkLink({ link, isRequest }: Link, passphrase: string | null, call: CallInput) {
  const opened = await openCall(link, call, { takesRequests: true })
  const { client, server, isSignedIn, urlToken: linkToken } = opened
  if (linkToken === '') throw new CommandFailure('this is neither a secret link nor a token.')
  if (!isRequest && !opened.isRequest) {
    await checkPush(client, linkToken, passphrase)
    const keys = await readAgeKeys({ linkKey: opened.fragment })
    await requireKeys(opened, keys, { isKeyInLink: keys !== null })
    return { client, linkToken, urlToken: linkToken, keys }
  }
  if (!isSignedIn) throw loginNeeded('This needs', server)
  const request = await client.findRequest(linkToken)
  const urlToken = await findUnopened(client, request)
  if (urlToken !== null) return { client, linkToken, urlToken, keys: null }
  if (request.closed)
    throw new ClientFailure('gone', 'all answers to this request were opened, or it is over.')
  throw new CommandFailure('nothing new has arrived for this request.')
}

async function checkPush(client: ServerCall['client'], urlToken: string, passphrase: string | null) {
  const { isExpired, needsPassphrase } = await client.check(urlToken)
  if (isExpired) {
    // The push has ended, so this opens nothing and uses up no view. It makes the server notify the owner of
    // the late try.
    await client.retrieve(urlToken, null).catch(() => undefined)
    throw new ClientFailure('gone', 'it was already opened, has expired or was deleted.')
  }
  if (needsPassphrase && passphrase === null)
    throw new CommandFailure('it needs a passphrase: name the variable that holds it with --passphrase-env.')
}

/**
 * Opens the links. Begins with those that have a passphrase, because a wrong one uses up no view. Throws
 * SourceFailure, which names the links whose views are used up.
 */
export async function openLinks(links: readonly CheckedLink[]) {
  const spent: string[] = []
  const secrets = new Map<Target, Uint8Array>()
  for (const link of links.toSorted(
    (a, b) => Number(b.passphrase !== null) - Number(a.passphrase !== null),
  )) {
    const { targets, client, urlToken, passphrase, keys } = link
    const onSpent = () => spent.push(namesOf(targets))
    try {
      const bytes = await openContent({ client, urlToken, passphrase, keys, onSpent })
      for (const target of targets) secrets.set(target, checkBytes(target, bytes))
    } catch (cause) {
      if (cause instanceof LostAnswer && !spent.includes(namesOf(targets)))
        spent.push(`${namesOf(targets)} (perhaps)`)
      const said = spent.length === 0 ? ' No view was spent.' : ` Already spent: ${spent.join('; ')}.`
      throw failureOf(targets, cause, `${said} The command was not run.`)
    }
  }
  return secrets
}

function checkBytes(target: Target, bytes: Uint8Array): Uint8Array {
  if (target.use !== 'env' || canBeVariable(bytes)) return bytes
  throw new CommandFailure('it is not text, so no variable can hold it: use --stdin or --file.')
}

async function explained<T>(targets: readonly Target[], act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (cause) {
    throw failureOf(targets, cause, ' No view was spent, and the command was not run.')
  }
}

function failureOf(targets: readonly Target[], cause: unknown, more = ''): SourceFailure {
  const isGone = cause instanceof ClientFailure && cause.kind === 'gone'
  const why =
    cause instanceof ClientFailure || cause instanceof CommandFailure
      ? cause.message
      : 'it could not be read.'
  return new SourceFailure(`${namesOf(targets)}: ${why}${more}`, isGone)
}
