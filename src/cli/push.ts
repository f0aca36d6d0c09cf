// `oncebox push`: hands over a text, a link, a QR code or files, and prints the link to give away.

import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Command } from 'commander'
import { parsePush, type RemotePush } from '../client/answers.ts'
import type { PushFields } from '../client/client.ts'
import { fileUpload, type UploadFile } from '../client/upload.ts'
import { PUSH_KINDS } from '../domain/push.ts'
import { readNewPassphrase, readPassphraseFile } from './ask.ts'
import {
  addClientCommand,
  type ClientParts,
  type ClientVisit,
  loginNeeded,
  printJson,
} from './client-command.ts'
import { CommandFailure } from './failures.ts'
import { addTextFlag, textFlag, textFlags } from './flags.ts'
import { formatCount, formatLocalTime } from './format.ts'
import { DURATION_NAMES, nameFlags, readFields, STANDARD_INPUT } from './push-fields.ts'
import { drawQr } from './qr.ts'
import type { Shell } from './shell.ts'

const HELP =
  'Hands over a text, a link, a QR code or files, and prints the link to give away. ' +
  'Without TEXT it is read from standard input; with files only when TEXT is "-". ' +
  'A line break at the end of a single line is left out. ' +
  'Other users of this machine can see arguments, so pipe in what is secret.'

const EXAMPLES = `  pwgen 20 1 | oncebox push                  a password, from another program
  oncebox push                               type or paste it, then Ctrl-D
  oncebox push --views 1 --duration 1h < note.txt
  oncebox push --file report.pdf --file key.zip --passphrase
  tar cz photos | oncebox push --file - --name photos.tgz
  oncebox push https://example.org/invite --kind url --qr`

export function addPushCommand(program: Command, parts: ClientParts): void {
  const command = addClientCommand(program, {
    ...parts,
    name: 'push',
    summary: 'hand over a text, a link or files, and get the link to give away',
    help: HELP,
    examples: EXAMPLES,
    optional: 'TEXT',
    sendsSecrets: true,
    problems: (command) => readFields(command).problems,
    work: (visit, command) => push(visit, command, parts.shell),
  })
  addTextFlag(
    command,
    '--file <path>',
    'A file to hand over, "-" for standard input; may be repeated. Needs a login',
  )
  addTextFlag(command, `--kind <${PUSH_KINDS.join('|')}>`, 'What it is; file when there are files, else text')
  addTextFlag(command, '--days <number>', 'Expires after so many days')
  addTextFlag(command, '--views <number>', 'Expires after so many views')
  addTextFlag(
    command,
    '--duration <time>',
    `Expires after ${DURATION_NAMES[0]}, ${DURATION_NAMES[1]}, … ${DURATION_NAMES.at(-1)}`,
  )
  command.option('--passphrase', 'Ask for a passphrase that the receiver will need')
  addTextFlag(command, '--passphrase-file <path>', 'Read that passphrase from a file')
  addTextFlag(command, '--retrieval-step <true|false>', 'Let the link ask for a confirmation first')
  addTextFlag(command, '--deletable-by-viewer <true|false>', 'Let the receiver delete it')
  addTextFlag(command, '--name <text>', 'A label that only you see; with --file - also the name of the file')
  addTextFlag(command, '--note <text>', 'A note that only you see')
  command.option('--qr', "Draw the link's QR code, too")
  command.option('--json', 'Print the answer of the server instead of the link')
}

async function push(visit: ClientVisit, command: Command, shell: Shell): Promise<void> {
  const { client } = visit
  const files = textFlags(command, 'file').map((path) => toUpload(path, { command, shell }))
  if (files.length > 0 && !visit.isSignedIn) {
    throw loginNeeded('Files need', visit.server)
  }
  const payload = await readPayload(visit.operands[0], { hasFiles: files.length > 0, shell })
  const passphrase = await readPassphrase(command, shell)
  const { fields } = readFields(command)
  const { body } = await send(visit, { fields: { payload, ...fields, passphrase }, files, shell })
  const created = parsePush(body)
  const link = await client.linkOf(created)
  if (command.getOptionValue('json') === true) printJson(body, shell)
  else shell.print(link)
  if (command.getOptionValue('qr') === true) shell.draw(drawQr(link))
  tellLifetime(created, { asked: fields, body, shell })
}

type Sending = { fields: PushFields; files: UploadFile[]; shell: Shell }

async function send({ client }: ClientVisit, { fields, files, shell }: Sending) {
  // A text is on its way at once.
  let isSent = files.length === 0
  const progress = shell.startProgress('Sending', () =>
    isSent ? 'cancelled; the push may have been made all the same' : 'cancelled; nothing was handed over',
  )
  const onProgress = (sent: number, total: number | null) => {
    isSent = sent === total
    progress.update(sent, total)
  }
  try {
    return await client.create({ fields, files, onProgress })
  } catch (cause) {
    throw nameFlags(cause)
  } finally {
    progress.stop()
  }
}

function toUpload(path: string, { command, shell }: { command: Command; shell: Shell }): UploadFile {
  if (path !== STANDARD_INPUT)
    return fileUpload({ path, filename: basename(path), size: statSync(path).size })
  if (shell.isInputTerminal)
    shell.say('Type or paste what the file is to hold; Ctrl-D on a line of its own ends it.')
  const filename = basename(textFlag(command, 'name') ?? '') || 'file'
  return { filename, size: null, read: shell.readInputBytes }
}

async function readPayload(
  text: string | undefined,
  { hasFiles, shell }: { hasFiles: boolean; shell: Shell },
): Promise<string | undefined> {
  const isGiven = text !== undefined && text !== '-'
  if (!isGiven && hasFiles && text === undefined) return undefined
  const payload = isGiven ? text : await readInput(shell)
  if (payload.trim() === '') throw new CommandFailure('There is nothing to hand over: the text is blank.')
  return payload
}

async function readInput(shell: Shell): Promise<string> {
  if (shell.isInputTerminal) shell.say('Type or paste the text; Ctrl-D on a line of its own ends it.')
  const text = await shell.readInputText()
  if (text === null)
    throw new CommandFailure('Standard input is not text in UTF-8: hand it over with --file.')
  return /^[^\r\n]*\r?\n$/.test(text) ? text.replace(/\r?\n$/, '') : text
}

async function readPassphrase(command: Command, shell: Shell): Promise<string | undefined> {
  const path = textFlag(command, 'passphrase-file')
  if (path !== undefined) return readPassphraseFile(path, shell)
  return command.getOptionValue('passphrase') === true ? readNewPassphrase(shell) : undefined
}

type Told = { asked: PushFields; body: unknown; shell: Shell }

/** Other servers may take no notice of a duration, and only tell days. */
function tellLifetime(created: RemotePush, { asked, body, shell }: Told): void {
  const { viewsRemaining, daysRemaining, expiresAt } = created
  const views = viewsRemaining === null ? '' : `${formatCount(viewsRemaining, 'view')} or `
  const until = expiresAt === null ? formatCount(daysRemaining, 'day') : `on ${formatLocalTime(expiresAt)}`
  shell.say(`It expires after ${views}${until}, whichever comes first.`)
  const ignored = asked.expire_after_duration !== undefined && expiresAt === null
  const isKnown = typeof body === 'object' && body !== null && 'expire_after_duration' in body
  if (ignored && !isKnown)
    shell.say('oncebox: warning: this server may have ignored --duration; --days is safe.')
}
