// The tools of `oncebox mcp`. None returns a secret, the link of one, or text written by a stranger.

import { parsePush, type RemotePush } from '../../client/answers.ts'
import type { PushClient } from '../../client/client.ts'
import { ClientFailure, RefusedFields } from '../../client/failure.ts'
import { isSameServer, parseLinkOrToken } from '../../client/link.ts'
import { readPages } from '../../client/own-pushes.ts'
import type { UploadFile } from '../../client/upload.ts'
import { readAgeKeys, requireKeys } from '../age-keys.ts'
import { findUnopened } from '../commands/get.ts'
import { openClipboard } from '../desktop/clipboard.ts'
import { notify } from '../desktop/notification.ts'
import { canBeVariable, openContent } from '../exec/content.ts'
import { findProgram } from '../exec/program.ts'
import { CommandFailure } from '../failures.ts'
import type { Shell } from '../shell.ts'
import type { Configuration, Recipe } from './configuration.ts'
import type { Tools } from './protocol.ts'
import { runRecipe } from './recipes.ts'
import { MAX_HIDDEN_CHARACTERS, MIN_HIDDEN_CHARACTERS } from './redaction.ts'
import { checkArguments, DESCRIPTIONS, type Given } from './schemas.ts'
import { openSharedFile } from './shared-file.ts'

type ToolsOptions = {
  client: PushClient
  server: string
  isSignedIn: boolean
  configuration: Configuration
  /** Returns random letters and digits. */
  random: (characters: number) => Promise<string>
  shell: Shell
}

/** The object behind a handle. */
type Handled = { kind: 'push' | 'request'; urlToken: string; linkKey?: string | null }

type ToolName = keyof typeof DESCRIPTIONS

export function createTools(options: ToolsOptions): Tools {
  const { client, server, isSignedIn, configuration, random, shell } = options
  const { recipes, folders, recipients } = configuration
  const held = new Map<string, Handled>()

  async function hold(kind: Handled['kind'], urlToken: string): Promise<string> {
    const name = `${kind}-${await random(16)}`
    held.set(name, { kind, urlToken })
    return name
  }

  function find(name: unknown): Handled {
    const found = held.get(String(name))
    if (found === undefined)
      throw new CommandFailure('There is no such handle: only those that this process returned.')
    return found
  }

  /** Creates a push and hands over its link. Checks first that the link can be handed over. */
  async function share(given: Given, what: string, content: { payload?: string; files?: UploadFile[] }) {
    const { name = null, days: expire_after_days = null, views: expire_after_views = null, to } = given
    const recipient = to === undefined ? null : recipients.get(String(to))
    if (recipient === undefined) throw new CommandFailure('There is no such recipient in the configuration.')
    const clipboard = recipient === null ? openClipboard(shell) : null
    const fields = { payload: content.payload ?? null, name, expire_after_days, expire_after_views }
    const { body } = await client.create({ fields, files: content.files ?? [], onProgress: () => undefined })
    const push = parsePush(body)
    const link = await client.linkOf(push)
    const made = { handle: await hold('push', push.urlToken), ...stateOf(push) }
    if (recipient !== null) {
      const { sealText } = await import('../../age/sealing.ts')
      return { ...made, sealed_link: await sealText(link, [recipient]) }
    }
    await clipboard?.copy(link)
    await notify(`An assistant shared ${what}. The secret link is on the clipboard.`, shell.os)
    return { ...made, link: 'on the clipboard of the person' }
  }

  function requireLogin(): void {
    if (!isSignedIn) throw new CommandFailure('This needs a login: "oncebox login URL".')
  }

  const run: Record<ToolName, (given: Given) => Promise<object>> = {
    share_generated: async (given) =>
      share(given, 'a generated password', { payload: await random(Number(given.length ?? 24)) }),
    share_file: async (given) => {
      requireLogin()
      const { file, close } = await openSharedFile(String(given.path), folders)
      return share(given, 'a file', { files: [file] }).finally(close)
    },
    ask_for_secret: async ({
      message = null,
      name = null,
      days: expire_after_days = null,
      answers = null,
    }) => {
      requireLogin()
      const fields = { message, name, expire_after_days, max_answers: answers }
      const { request } = await client.createRequest(fields)
      if (request.htmlUrl === null) throw new CommandFailure('The link of the server is not safe to open.')
      return {
        handle: await hold('request', request.urlToken),
        link: request.htmlUrl,
        expires_at: timeOf(request.expiresAt),
      }
    },
    status: async (given) => {
      const { kind, urlToken } = find(given.handle)
      if (kind === 'push') return statusOf(urlToken)
      const { answers, maxAnswers, closed, expiresAt } = await client.findRequest(urlToken)
      return { answers, max_answers: maxAnswers, closed, expires_at: timeOf(expiresAt) }
    },
    expire: async (given) => {
      const { kind, urlToken } = find(given.handle)
      await (kind === 'push' ? client.expire(urlToken) : client.closeRequest(urlToken))
      return { ended: true }
    },
    use_secret: useSecret,
  }

  async function statusOf(urlToken: string): Promise<object> {
    if (isSignedIn)
      for (const group of ['active', 'expired'] as const)
        for await (const { pushes } of readPages(client, group)) {
          const found = pushes.find((push) => push.urlToken === urlToken)
          if (found !== undefined) return stateOf(found)
        }
    return { expired: (await client.check(urlToken)).isExpired }
  }

  async function useSecret(given: Given): Promise<object> {
    const recipe = recipes.get(String(given.recipe))
    if (recipe === undefined) throw new CommandFailure('There is no such recipe in the configuration.')
    const linked = tokenOf(given, recipe)
    const path = findProgram(recipe.argv[0] ?? '', shell.os)
    const keys = await readAgeKeys({ linkKey: linked.linkKey ?? null })
    if (linked.kind === 'push')
      await requireKeys({ client, urlToken: linked.urlToken }, keys, { isKeyInLink: keys !== null })
    const urlToken = linked.kind === 'push' ? linked.urlToken : await answerOf(linked.urlToken)
    let isSpent = false
    const onSpent = () => {
      isSpent = true
    }
    try {
      const secret = await openContent({ client, urlToken, passphrase: null, keys, onSpent })
      requireUsable(secret, recipe)
      return await runRecipe({ recipe, path, secret, tokens: [linked.urlToken, urlToken], shell })
    } catch (cause) {
      throw isSpent ? new CommandFailure(`${explain(cause)} A view was spent.`) : cause
    }
  }

  /** Resolves a handle or a link to its token. Refuses links of other servers before it connects. */
  function tokenOf({ handle: name, link }: Given, { from }: Recipe): Handled {
    if ((name === undefined) === (link === undefined))
      throw new CommandFailure('Give either a handle or a link.')
    const source = link === undefined ? find(name) : null
    const origin = source === null ? 'link' : source.kind === 'request' ? 'request' : 'handle'
    if (!from.includes(origin)) throw new CommandFailure(`The recipe does not allow a ${origin}.`)
    if (source !== null) return source
    const parsed = parseLinkOrToken(String(link))
    const isOurs =
      parsed !== null &&
      parsed.server !== null &&
      !parsed.isSchemeGuessed &&
      isSameServer(parsed.server, server)
    if (!isOurs || parsed.isRequest)
      throw new CommandFailure('This is no secret link of the configured server.')
    return { kind: 'push', urlToken: parsed.urlToken, linkKey: parsed.fragment }
  }

  async function answerOf(request: string): Promise<string> {
    const found = await findUnopened(client, await client.findRequest(request))
    if (found === null) throw new CommandFailure('Nothing new has arrived for this request.')
    return found
  }

  async function call(name: string, given: unknown) {
    if (!Object.hasOwn(DESCRIPTIONS, name)) return null
    const known = name as ToolName
    try {
      const result = await run[known](checkArguments(given, DESCRIPTIONS[known].inputSchema))
      return { text: JSON.stringify(result), isError: false }
    } catch (cause) {
      return { text: explain(cause), isError: true }
    }
  }

  const descriptions = Object.entries(DESCRIPTIONS).map(([name, one]) => ({ name, ...one }))
  return { descriptions, call }
}

/** Returns no names or texts, because a stranger may have written them. */
function stateOf({ expired, deleted, viewsRemaining, expiresAt }: RemotePush) {
  return { expired, deleted, views_remaining: viewsRemaining, expires_at: timeOf(expiresAt ?? '') }
}

function timeOf(text: string): string | null {
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}

function requireUsable(secret: Uint8Array, { secret: place, output }: Recipe): void {
  if (place !== 'stdin' && !canBeVariable(secret))
    throw new CommandFailure('No variable can hold this secret: it is not text. Nothing was run.')
  const { length } = Buffer.from(secret).toString('utf8').trim()
  if (output > 0 && (length < MIN_HIDDEN_CHARACTERS || secret.length > MAX_HIDDEN_CHARACTERS))
    throw new CommandFailure(
      'The recipe returns output, in which a secret of under 8 or over 4096 characters cannot be hidden. Nothing was run.',
    )
}

/** Replacements for server messages, which may contain text that a stranger wrote. */
const WORDS = {
  failed: 'The server refused.',
  gone: 'It does not exist, was opened before, or has expired.',
  refused: 'The server refused: a login or passphrase is missing, or it is not yours.',
  unavailable: 'The server is unreachable or busy: try again later.',
  unopened: 'It is end-to-end, and its key does not open it.',
}

function explain(cause: unknown): string {
  if (cause instanceof CommandFailure) return cause.message
  if (cause instanceof RefusedFields) {
    const fields = Object.keys(cause.fields).filter((name) => /^[a-z_]{1,40}$/.test(name))
    return `The server refused ${fields.join(', ')}.`
  }
  return cause instanceof ClientFailure ? WORDS[cause.kind] : 'It failed.'
}
