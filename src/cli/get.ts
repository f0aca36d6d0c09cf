// `oncebox get`: receives a push, as text or as files.

import type { Command } from 'commander'
import { ClientFailure, UntrueAnswer } from '../client/failure.ts'
import { printable, printableLine } from '../domain/printable.ts'
import { refusalOf } from '../domain/system-errors.ts'
import { isWebAddress } from '../domain/web-address.ts'
import { passphraseFileProblems, readPassphraseFile } from './ask.ts'
import { addClientCommand, type ClientParts, type ClientVisit, printJson } from './client-command.ts'
import { addTextFlag, textFlag } from './flags.ts'
import { formatSize } from './format.ts'
import { outputProblems, writeText } from './output.ts'
import { drawQr } from './qr.ts'
import { createReceivedFiles } from './received-files.ts'
import type { Shell } from './shell.ts'

const HELP =
  'Opens a push, which uses up a view. Prints a text on standard output, or saves it to the file or folder that ' +
  '--output names. Saves files in the current folder or in --output. Overwrites nothing, creates missing folders, and ' +
  'replaces unsafe names. Resumes an interrupted download without another view, even when the same command runs later.'

const EXAMPLES = `  oncebox get https://once.example/p/7k3m9qx2vn4t8bw5hj6r0yzacd/r
  oncebox get 7k3m9qx2vn4t8bw5hj6r0yzacd > note.txt
  oncebox get 7k3m9qx2vn4t8bw5hj6r0yzacd --output downloads`

export function addGetCommand(program: Command, parts: ClientParts): void {
  const command = addClientCommand(program, {
    ...parts,
    name: 'get',
    summary: 'open a push: print its text or save its files',
    help: HELP,
    examples: EXAMPLES,
    operands: ['LINK-OR-TOKEN'],
    problems: (command) => [
      ...outputProblems(textFlag(command, 'output')),
      ...passphraseFileProblems(command),
    ],
    work: (visit, command) => get(visit, readOptions(command), parts),
  })
  addTextFlag(
    command,
    '--output <path>',
    'File for a text or a single file, or a folder (end a new folder with /)',
  )
  addTextFlag(command, '--passphrase-file <path>', 'Read the passphrase from a file instead of asking for it')
  command.option('--qr', 'Also draw the text as a QR code')
  command.option('--json', "Print the server's response; do not download files")
}

type Options = { output: string | null; passphraseFile: string | null; qr: boolean; json: boolean }

function readOptions(command: Command): Options {
  return {
    output: textFlag(command, 'output') ?? null,
    passphraseFile: textFlag(command, 'passphrase-file') ?? null,
    qr: command.getOptionValue('qr') === true,
    json: command.getOptionValue('json') === true,
  }
}

async function get(visit: ClientVisit, options: Options, { shell }: ClientParts): Promise<void> {
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
  if (push.payload) deliverText(push.payload, { ...options, output: hasFiles ? null : output, shell })
  if (hasFiles) await files.receive(push.files)
}

/** Asks for a passphrase if one is required. No view is counted until it is right. */
async function retrieve(
  { client, urlToken }: ClientVisit,
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

function deliverText(text: string, { output, qr, shell }: Delivery): void {
  const isSaved = output !== null && saveText(text, output, shell)
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
function saveText(text: string, output: string, shell: Shell): boolean {
  try {
    const saved = writeText(text, output)
    shell.say(`Saved as ${printableLine(saved)} (${formatSize(Buffer.byteLength(text))}).`)
    return true
  } catch (cause) {
    const why = refusalOf(cause)
    shell.say(
      `oncebox: --output ${JSON.stringify(output)} cannot be written: ${why}. Here is the text instead.`,
    )
    return false
  }
}

/** Prints the text unchanged, except for characters that a terminal would interpret. */
function printText(text: string, shell: Shell): void {
  const shown = shell.isOutputTerminal ? printable(text) : text
  const isOpen = shell.isOutputTerminal && !shown.endsWith('\n')
  shell.printExactly(isOpen ? `${shown}\n` : shown)
  if (shown !== text) {
    shell.say('Control characters are shown as signs; redirect to a file ("> FILE") to keep them.')
  }
}
