// `oncebox get`: receives a push, as text or as files.

import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ClientFailure, UntrueAnswer } from '../client/failure.ts'
import { DIRECTION_MARK, printable, printableLine } from '../domain/printable.ts'
import { reasonOf } from '../domain/system-errors.ts'
import { isWebAddress } from '../domain/web-address.ts'
import { readPassphraseFile } from './ask.ts'
import type { Given } from './command.ts'
import { CommandFailure } from './failures.ts'
import { formatSize } from './format.ts'
import { isNamedAsFolder } from './paths.ts'
import { drawQr } from './qr.ts'
import { createReceivedFiles } from './received-files.ts'
import type { Shell } from './shell.ts'
import { printJson, type Visit } from './visit.ts'
import { createWholeFile } from './whole-file.ts'

/** The file name of a text in a folder. The sender's name for the push is private. */
const TEXT_NAME = 'push.txt'

type Options = { output: string | null; passphraseFile: string | null; qr: boolean; json: boolean }

export async function get({ flags: options, shell, ...visit }: Given<Options> & Visit): Promise<void> {
  const { json, output } = options
  const link = `${visit.server} ${visit.urlToken}`
  const files = createReceivedFiles({ output, link, shell, downloadPart: visit.client.downloadPart })
  if (!json && (await files.goOn())) return
  const { push, answer } = await retrieve(visit, { options, shell })
  if (json) printJson(answer, shell)
  if (push.expired) throw new ClientFailure('gone', 'This push has expired.')
  if (json) return
  const hasFiles = push.files.length > 0
  if (!push.payload && !hasFiles)
    throw new UntrueAnswer('The server answered with a push that holds nothing.')
  const isLast = push.viewsRemaining === 0
  if (push.viewsRemaining !== null) {
    shell.say(isLast ? 'This was the last view.' : `Views left: ${push.viewsRemaining}.`)
  }
  if (push.payload && push.kind === 'url' && !isWebAddress(push.payload))
    shell.say('This push should be a link, but it does not lead to a web site. Do not open it.')
  if (push.payload) await deliverText(push.payload, { ...options, output: hasFiles ? null : output, shell })
  if (hasFiles) await files.receive(push.files)
}

/** Asks for a passphrase if one is required. No view is counted until it is right. */
async function retrieve(
  { client, urlToken }: Pick<Visit, 'client' | 'urlToken'>,
  { options, shell }: { options: Options; shell: Shell },
) {
  const { passphraseFile } = options
  const given = passphraseFile === null ? null : readPassphraseFile(passphraseFile, { shell, command: 'get' })
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

type Delivery = { output: string | null; qr: boolean; shell: Shell }

async function deliverText(text: string, { output, qr, shell }: Delivery): Promise<void> {
  const isSaved = output !== null && (await saveText(text, output, shell))
  if (!isSaved) printText(text, shell)
  if (qr) drawText(text, shell)
}

/** Does not fail if the text is too long, because the view is already spent. */
function drawText(text: string, shell: Shell): void {
  try {
    shell.draw(drawQr(text))
  } catch {
    shell.say('The text is too long for a QR code.')
  }
}

/** False when writing fails. The caller then prints the text, because the view is already spent. */
async function saveText(text: string, output: string, shell: Shell): Promise<boolean> {
  try {
    const saved = await writeText(text, output)
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
  const shown = shell.isOutputTerminal ? printable(text) : text
  const isOpen = shell.isOutputTerminal && !shown.endsWith('\n')
  shell.printExactly(isOpen ? `${shown}\n` : shown)
  if (!shell.isOutputTerminal) return
  if (DIRECTION_MARK.test(text))
    shell.say(
      'This text holds marks that change the direction of reading: elsewhere it may look otherwise than here, where they are �.',
    )
  if (shown !== text) {
    shell.say('Control characters are shown as signs; redirect to a file ("> FILE") to keep them.')
  }
}

/** Returns the path of the new file. */
async function writeText(text: string, output: string): Promise<string> {
  const isFolder = isNamedAsFolder(output)
  const path = isFolder ? join(output, TEXT_NAME) : output
  mkdirSync(dirname(path), { recursive: true })
  const file = await createWholeFile(path)
  await file.write(text)
  return file.finish({ mayNumber: isFolder })
}
