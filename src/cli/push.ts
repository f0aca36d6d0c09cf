// `oncebox push`: creates a push of a text, a link, a QR code or files, and prints its secret link.

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
  'Creates a push of a text, a link, a QR code or files, and prints its secret link. ' +
  'Without TEXT it reads standard input; with files only when TEXT is "-". ' +
  'It removes the line break at the end of a single line. ' +
  'Other users of this machine can see arguments, so pipe secrets in.'

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
    summary: 'create a push of a text, a link or files, and print its secret link',
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
    'File to push, "-" for standard input; may be repeated. Needs a login',
  )
  addTextFlag(
    command,
    `--kind <${PUSH_KINDS.join('|')}>`,
    'Kind of the push (default: file when there are files, else text)',
  )
  addTextFlag(command, '--days <number>', 'Expires after this many days')
  addTextFlag(command, '--views <number>', 'Expires after this many views')
  addTextFlag(
    command,
    '--duration <time>',
    `Expires after ${DURATION_NAMES[0]}, ${DURATION_NAMES[1]}, … ${DURATION_NAMES.at(-1)}`,
  )
  command.option('--passphrase', 'Ask for a passphrase that the recipient must enter')
  addTextFlag(command, '--passphrase-file <path>', 'Read the passphrase from a file')
  addTextFlag(
    command,
    '--retrieval-step <true|false>',
    'Whether the recipient is told first that opening uses up a view',
  )
  addTextFlag(command, '--deletable-by-viewer <true|false>', 'Whether the recipient may delete the push')
  addTextFlag(command, '--name <text>', 'A label that only you see; with --file - also the name of the file')
  addTextFlag(command, '--note <text>', 'A note that only you see')
  command.option('--qr', "Also draw the link's QR code")
  command.option('--json', "Print the server's response instead of the link")
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
  // A text is sent at once, without progress.
  let isSent = files.length === 0
  const progress = shell.startProgress('Sending', () =>
    isSent ? 'cancelled; the push may have been created anyway' : 'cancelled; nothing was pushed',
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
    shell.say('Type or paste the content of the file; end it with Ctrl-D on its own line.')
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
  if (payload.trim() === '') throw new CommandFailure('There is nothing to push: the text is blank.')
  return payload
}

async function readInput(shell: Shell): Promise<string> {
  if (shell.isInputTerminal) shell.say('Type or paste the text; end it with Ctrl-D on its own line.')
  const text = await shell.readInputText()
  if (text === null) throw new CommandFailure('Standard input is not text in UTF-8: push it with --file.')
  return /^[^\r\n]*\r?\n$/.test(text) ? text.replace(/\r?\n$/, '') : text
}

async function readPassphrase(command: Command, shell: Shell): Promise<string | undefined> {
  const path = textFlag(command, 'passphrase-file')
  if (path !== undefined) return readPassphraseFile(path, { shell, command: 'push' })
  return command.getOptionValue('passphrase') === true ? readNewPassphrase(shell) : undefined
}

type Told = { asked: PushFields; body: unknown; shell: Shell }

/** Other servers may ignore a duration and only report days. */
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
