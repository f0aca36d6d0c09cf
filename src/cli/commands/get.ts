// `oncebox get`: receives a push, or an answer to a request, as text or as files.

import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RemoteRequest } from '../../client/answers.ts'
import type { PushClient } from '../../client/client.ts'
import { ClientFailure, UntrueAnswer } from '../../client/failure.ts'
import { readPages } from '../../client/own-pushes.ts'
import { isSealedText } from '../../domain/age-recipient.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { DIRECTION_MARK, printable, printableLine } from '../../text/printable.ts'
import { isWebAddress } from '../../text/web-address.ts'
import { type AgeKeys, readAgeKeys } from '../age-keys.ts'
import { repeated, toggle, valued } from '../command.ts'
import type { Clipboard } from '../desktop/clipboard.ts'
import { CommandFailure, ReportedFailure } from '../failures.ts'
import { formatLocalTime, formatSize } from '../format.ts'
import { fileText, isNamedAsFolder, namedText, output } from '../paths.ts'
import { drawQr } from '../qr.ts'
import { createReceivedFiles } from '../received-files.ts'
import { loginNeeded, printJson, type ServerCall, serverCommand, untilAnswered } from '../server-command.ts'
import type { Shell } from '../shell.ts'
import { writeWholeFile } from '../whole-file.ts'

export const GET = serverCommand({
  name: 'get',
  operands: 'LINK-OR-TOKEN',
  takesRequests: true,
  flags: {
    output: valued('output <path>', output),
    passphraseFile: valued('passphrase-file <path>', fileText),
    wait: toggle('wait'),
    identity: repeated('identity <file>', namedText),
    copy: toggle('copy'),
    qr: toggle('qr'),
    json: toggle('json'),
  },
  oneOf: [
    ['copy', 'output'],
    ['copy', 'qr'],
    ['copy', 'json'],
  ],
  act: async ({ flags: { output, passphraseFile, wait, identity, copy, qr, json }, shell, ...visit }) => {
    // Without a clipboard that can be emptied, nothing is opened.
    const clipboard = copy ? (await import('../desktop/clipboard.ts')).openClipboard(shell) : null
    const { client, server, urlToken, isRequest } = visit
    const keys = identity.length === 0 ? null : await readAgeKeys(identity, shell)
    const { downloadPart } = client
    const files = createReceivedFiles({ output, link: `${server} ${urlToken}`, shell, downloadPart, keys })
    if (!json && (await files.resume())) return
    const found = isRequest || wait ? await awaitAnswer(visit, { wait, shell }) : urlToken
    const { push, answer } = await retrieve({ client, urlToken: found }, passphraseFile, shell)
    if (json) printJson(answer, shell)
    if (push.expired) throw new ClientFailure('gone', 'This push has expired.')
    if (json) return
    const { payload, viewsRemaining } = push
    const hasFiles = push.files.length > 0
    if (!payload && !hasFiles) throw new UntrueAnswer('The server answered with a push that holds nothing.')
    if (viewsRemaining !== null)
      shell.say(viewsRemaining === 0 ? 'This was the last view.' : `Views left: ${viewsRemaining}.`)
    const text = payload && (await openText(payload, keys, shell))
    if (text && push.kind === 'url' && !isWebAddress(text))
      shell.say('This push is marked as a link, but is not a web address. Do not open it.')
    const isCopied = text && clipboard !== null
    if (isCopied) await copyText(text, clipboard, shell)
    else if (text && (hasFiles || output === null || !(await saveText(text, output, shell))))
      printText(text, shell)
    if (text && qr) drawText(text, shell)
    if (hasFiles) await files.receive(push.files)
    if (keys !== null && keys.failures() > 0) throw new ReportedFailure(1)
  },
})

/** Decrypts a text. Resolves to the encrypted text if that is not possible. */
async function openText(text: string, keys: AgeKeys | null, shell: Shell): Promise<string> {
  if (!isSealedText(text)) return text
  if (keys !== null) return (await keys.openText(text)) ?? text
  shell.say('This is encrypted for an age key: "age -d" opens it, and so does --identity FILE.')
  return text
}

type PushOnServer = Pick<ServerCall, 'client' | 'urlToken'>

/** Retrieves a push. Asks for a passphrase if required; no view is counted until it is right. */
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

/** Draws a QR code. Does not fail if the text is too long, because the view is already spent. */
function drawText(text: string, shell: Shell): void {
  try {
    shell.draw(drawQr(text))
  } catch {
    shell.say('The text is too long for a QR code.')
  }
}

/** The file name of a text in a folder. The sender's name for the push is private. */
const TEXT_NAME = 'push.txt'

/**
 * Resolves to false when writing fails. The caller then prints the text, because the view is already spent.
 */
async function saveText(text: string, output: string, shell: Shell): Promise<boolean> {
  const isFolder = isNamedAsFolder(output)
  const path = isFolder ? join(output, TEXT_NAME) : output
  try {
    mkdirSync(dirname(path), { recursive: true })
    const saved = await writeWholeFile(path, { mayNumber: isFolder, fill: (write) => write(text) })
    shell.say(`Saved as ${printableLine(saved)} (${formatSize(Buffer.byteLength(text))}).`)
    return true
  } catch (cause) {
    const why =
      cause instanceof CommandFailure ? cause.message : `${JSON.stringify(output)}: ${reasonOf(cause)}.`
    shell.say(`oncebox: ${why} Here is the text instead.`)
    return false
  }
}

/** Prints the text unchanged, except for characters that a terminal would interpret. */
function printText(text: string, shell: Shell): void {
  if (!shell.isOutputTerminal) return void shell.printExactly(text)
  const shown = printable(text)
  shell.printExactly(shown.endsWith('\n') ? shown : `${shown}\n`)
  if (DIRECTION_MARK.test(text))
    shell.say(
      'This text contains marks that change the direction of reading (here shown as �): elsewhere it may look different.',
    )
  if (shown !== text)
    shell.say('Control characters are shown as signs; redirect to a file ("> FILE") to keep them.')
}

const CLIPBOARD_SECONDS = 45

/** Puts the text on the clipboard for a while. Prints it if that fails, because the view is already spent. */
async function copyText(text: string, clipboard: Clipboard, shell: Shell): Promise<void> {
  try {
    await clipboard.copy(text, { isConcealed: true })
  } catch (cause) {
    shell.say(`oncebox: ${reasonOf(cause)} Here is the text instead.`)
    return printText(text, shell)
  }
  shell.say(`The text is on the clipboard for ${CLIPBOARD_SECONDS} seconds. Ctrl-C removes it now.`)
  await shell.pause(CLIPBOARD_SECONDS)
  await clipboard.clearIf(text)
}

const POLL_MS = 2000

/**
 * Resolves to the token of the oldest unopened answer. Throws ClientFailure when there is none and the
 * request is closed; without `wait` also when there is none yet.
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
