// `oncebox get`: receives a push, or an answer to a request, as text or as files.

import type { RemoteRequest } from '../../client/answers.ts'
import type { PushClient } from '../../client/client.ts'
import { ClientFailure, UntrueAnswer } from '../../client/failure.ts'
import { parseLinkOrToken } from '../../client/link.ts'
import { readPages } from '../../client/own-pushes.ts'
import { isSealedText } from '../../domain/age-recipient.ts'
import { printableLine } from '../../text/printable.ts'
import { isWebAddress } from '../../text/web-address.ts'
import { type AgeKeys, readAgeKeys, requireKeys } from '../age-keys.ts'
import { repeated, toggle, valued } from '../command.ts'
import { formatLocalTime } from '../format.ts'
import { fileText, namedText, output, readableFile, STANDARD } from '../paths.ts'
import { createReceivedFiles, type ReceivedFiles } from '../received-files.ts'
import { copyText, drawText, printText, saveText } from '../received-text.ts'
import {
  loginNeeded,
  printJson,
  readLink,
  type ServerCall,
  serverCommand,
  untilAnswered,
} from '../server-command.ts'
import type { Shell } from '../shell.ts'

export const GET = serverCommand({
  name: 'get',
  operands: '[LINK-OR-TOKEN|-]',
  takesRequests: true,
  flags: {
    output: valued('output <path>', output),
    passphraseFile: valued('passphrase-file <path>', fileText),
    wait: toggle('wait'),
    identity: repeated('identity <file>', namedText),
    sealed: repeated('sealed <file>', readableFile),
    copy: toggle('copy'),
    qr: toggle('qr'),
    json: toggle('json'),
  },
  oneOf: [
    ['copy', 'output'],
    ['copy', 'qr'],
    ['copy', 'json'],
  ],
  pipesLink: ({ sealed }) => sealed.length === 0,
  problems: ({ flags: { sealed, wait, json }, operands, shell }) => [
    sealed.length > 0 && (wait || json) && '--sealed opens what was saved: leave out --wait and --json',
    operands.length === 0 && sealed.length === 0 && shell.isInputTerminal && 'LINK-OR-TOKEN is missing',
  ],
  act: async ({ flags, shell, ...visit }) => {
    const { output, passphraseFile, wait, identity, sealed, copy, qr, json } = flags
    // Open the clipboard first: if it could not be emptied again, no push must be opened.
    const clipboard = copy ? (await import('../desktop/clipboard.ts')).openClipboard(shell) : null
    const { client, server, urlToken, isRequest } = visit
    const isKeyAsked = sealed.length > 0 && identity.length === 0 && visit.fragment === null
    const linkKey = isRequest ? null : isKeyAsked ? await askKey(shell) : visit.fragment
    const keys = await readAgeKeys({ linkKey, files: identity })
    const { downloadPart } = client
    const files = createReceivedFiles({ output, link: `${server} ${urlToken}`, shell, downloadPart, keys })
    if (sealed.length > 0) return openSaved(sealed, { keys, files, show })
    if (!json && (await files.resume())) return
    const isAnswer = isRequest || wait
    if (!isAnswer) await requireKeys(visit, keys, { isKeyInLink: linkKey !== null })
    const found = isAnswer ? await awaitAnswer(visit, { wait, shell }) : urlToken
    const { push, answer } = await retrieve({ client, urlToken: found }, passphraseFile, shell)
    if (json && keys === null) printJson(answer, shell)
    if (push.expired) throw new ClientFailure('gone', 'This push has expired.')
    if (json && keys === null) return
    const { payload, viewsRemaining } = push
    const hasFiles = push.files.length > 0
    if (!payload && !hasFiles) throw new UntrueAnswer('The server answered with a push that holds nothing.')
    if (viewsRemaining !== null)
      shell.say(viewsRemaining === 0 ? 'This was the last view.' : `Views left: ${viewsRemaining}.`)
    const text = payload && (keys === null ? tellSealed(payload, shell) : await keys.openText(payload))
    if (json) return printJson({ ...Object(answer), payload: text }, shell)
    if (text && push.kind === 'url' && !isWebAddress(text))
      shell.say('This push is marked as a link, but is not a web address. Do not open it.')
    if (text) await show(text, hasFiles)
    if (hasFiles) await files.receive(push.files)

    async function show(text: string, besideFiles: boolean): Promise<void> {
      if (clipboard !== null) await copyText(text, clipboard, shell)
      else if (besideFiles || output === null || output === STANDARD) printText(text, shell)
      else if (!(await saveText(text, output, shell))) printText(text, shell)
      if (qr) drawText(text, shell)
    }
  },
})

type Saved = {
  keys: AgeKeys | null
  files: Pick<ReceivedFiles, 'openSaved'>
  show: (text: string, besideFiles: boolean) => Promise<void>
}

const MAX_TEXT_BYTES = 64 * 1024 * 1024

/** Opens encrypted texts and files that were saved before, and asks no server. */
async function openSaved(paths: readonly string[], { keys, files, show }: Saved): Promise<void> {
  if (keys === null) return
  const sealedFiles: string[] = []
  for (const path of paths) {
    const file = Bun.file(path)
    const isText = file.size <= MAX_TEXT_BYTES && isSealedText(await file.slice(0, 100).text())
    if (isText) await show(await keys.openText(await file.text()), paths.length > 1)
    else sealedFiles.push(path)
  }
  if (sealedFiles.length > 0) await files.openSaved(sealedFiles, keys)
}

/** Asks for the link that belongs to saved content, or reads it from a pipe. Returns its key. */
async function askKey(shell: Shell): Promise<string> {
  const isPiped = !shell.isInputTerminal || !shell.isTerminal
  const link = isPiped
    ? await readLink(shell)
    : (await shell.askHidden('The whole link, with its key')).trim()
  return parseLinkOrToken(link)?.fragment ?? link
}

/** Explains how to decrypt an encrypted text. Returns the text unchanged. */
function tellSealed(text: string, shell: Shell): string {
  if (isSealedText(text))
    shell.say('This is encrypted for an age key: "age -d" opens it, and so does --identity FILE.')
  return text
}

type PushOnServer = Pick<ServerCall, 'client' | 'urlToken'>

/** Retrieves a push. Asks for its passphrase if it has one. Counts no view before the passphrase is right. */
async function retrieve({ client, urlToken }: PushOnServer, given: string | null, shell: Shell) {
  let retrieved = await client.retrieve(urlToken, given)
  while (retrieved.outcome === 'passphrase_wanted') {
    if (given !== null || !shell.isTerminal) throw new ClientFailure('refused', retrieved.message)
    shell.say(printableLine(retrieved.message))
    const passphrase = await shell.askHidden('Passphrase')
    if (passphrase === '') throw new ClientFailure('refused', 'No passphrase was given; nothing was opened.')
    retrieved = await client.retrieve(urlToken, passphrase)
  }
  return retrieved
}

const POLL_MS = 2000

/**
 * Resolves to the token of the oldest unopened answer. Throws ClientFailure if there is none and the request
 * is closed, or `wait` is false.
 */
async function awaitAnswer(
  { client, server, urlToken, isSignedIn }: Omit<ServerCall, 'isRequest'>,
  { wait, shell }: { wait: boolean; shell: Shell },
): Promise<string> {
  if (!isSignedIn) throw loginNeeded('This needs', server)
  let request = await client.findRequest(urlToken)
  let seen: number | null = 0
  for (let isFirst = true; ; isFirst = false) {
    const found = request.answers === seen ? null : await findUnopened(client, request)
    if (found !== null) return found
    seen = request.answers
    if (request.closed)
      throw nothing('This request takes no more answers, and nothing new has arrived for it.')
    if (!wait) throw nothing('Nothing new has arrived for this request. To wait for it, add --wait.')
    if (isFirst) shell.say(`Waiting for something to arrive until ${formatLocalTime(request.expiresAt)}.`)
    await Bun.sleep(POLL_MS)
    request = await untilAnswered(() => client.findRequest(urlToken), shell)
  }
}

/** Finds the oldest unopened answer. Stops at pushes that are older than the request. */
export async function findUnopened(
  client: Pick<PushClient, 'list'>,
  request: RemoteRequest,
): Promise<string | null> {
  let oldest: string | null = null
  for await (const { pushes } of readPages(client, 'active')) {
    const answers = pushes.filter((push) => push.request === request.urlToken)
    const unopened = answers.filter((push) => push.viewsRemaining === push.viewsAllowed)
    oldest = unopened.at(-1)?.urlToken ?? oldest
    if ((pushes.at(-1)?.createdAt ?? '') < request.createdAt) break
  }
  return oldest
}

function nothing(message: string): ClientFailure {
  return new ClientFailure('gone', message)
}
