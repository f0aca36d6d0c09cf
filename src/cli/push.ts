// `oncebox push`: hands over a text, a link, a QR code or files, and prints the link to give away.

import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Command } from 'commander'
import { parsePush, type RemotePush } from '../client/answers.ts'
import type { PushFields } from '../client/client.ts'
import type { UploadFile } from '../client/upload.ts'
import { DURATIONS } from '../domain/new-push.ts'
import { PUSH_KINDS } from '../domain/push.ts'
import { DAY } from '../domain/time.ts'
import { duration, truth, wholeNumber } from '../setting-parsers.ts'
import { readNewPassphrase } from './ask.ts'
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
  addTextFlag(command, '--file <path>', 'A file to hand over; may be repeated. Needs a login')
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
  addTextFlag(command, '--name <text>', 'A label that only you see')
  addTextFlag(command, '--note <text>', 'A note that only you see')
  command.option('--qr', "Draw the link's QR code, too")
  command.option('--json', 'Print the answer of the server instead of the link')
}

const DURATION_NAMES = DURATIONS.map((ms) =>
  ms >= DAY ? `${ms / DAY}d` : ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : `${ms / 60_000}m`,
)

/** The flags as fields of the API, and what is wrong with them. */
function readFields(command: Command): { fields: PushFields; problems: string[] } {
  const problems: string[] = []
  const read = <T>(
    name: string,
    parse: (text: string) => { value: T } | { problem: string },
  ): T | undefined => {
    const text = textFlag(command, name)
    if (text === undefined) return undefined
    const parsed = parse(text)
    if ('value' in parsed) return parsed.value
    problems.push(
      text === ''
        ? `--${name}: a value is missing, it ${parsed.problem}`
        : `--${name} ${JSON.stringify(text)}: ${parsed.problem}`,
    )
    return undefined
  }
  const text = (value: string) => (value === '' ? { problem: "can't be blank" } : { value })
  const yes = (value: string) => truth(value === '' ? 'true' : value)
  const fields = {
    kind: read('kind', parseKind),
    expire_after_days: read('days', wholeNumber('1', '3650')),
    expire_after_views: read('views', wholeNumber('1', '1000000')),
    expire_after_duration: read('duration', parseDuration),
    retrieval_step: read('retrieval-step', yes),
    deletable_by_viewer: read('deletable-by-viewer', yes),
    name: read('name', text),
    note: read('note', text),
  }
  read('passphrase-file', text)
  for (const path of textFlags(command, 'file')) problems.push(...fileProblems(path))
  return { fields, problems }
}

function parseKind(text: string) {
  return PUSH_KINDS.some((kind) => kind === text)
    ? { value: text }
    : { problem: `must be one of ${PUSH_KINDS.join(', ')}` }
}

/** The index that the API has for it. */
function parseDuration(text: string) {
  const parsed = duration('1m', '3650d')(text)
  const value = 'value' in parsed ? DURATIONS.indexOf(parsed.value) : -1
  return value === -1 ? { problem: `must be one of ${DURATION_NAMES.join(', ')}` } : { value }
}

function fileProblems(path: string): string[] {
  try {
    const found = statSync(path)
    if (found.isFile()) return []
    return [
      `--file ${JSON.stringify(path)}: ${found.isDirectory() ? 'is a folder; pack it into one file first' : 'is no file'}`,
    ]
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : ''
    return [`--file ${JSON.stringify(path)}: cannot be read${code}`]
  }
}

async function push(visit: ClientVisit, command: Command, shell: Shell): Promise<void> {
  const { client } = visit
  const files = textFlags(command, 'file').map(toUpload)
  if (files.length > 0 && !visit.isSignedIn) {
    throw loginNeeded('Files need', visit.server)
  }
  const payload = await readPayload(visit.operands[0], { hasFiles: files.length > 0, shell })
  const passphrase = await readPassphrase(command, shell)
  const { fields } = readFields(command)
  const progress = shell.startProgress('Sending', 'cancelled; nothing was handed over')
  const { body } = await client
    .create({ fields: { payload, ...fields, passphrase }, files, onProgress: progress.update })
    .finally(progress.stop)
  const created = parsePush(body)
  const link = await client.linkOf(created)
  if (command.getOptionValue('json') === true) printJson(body, shell)
  else shell.print(link)
  if (command.getOptionValue('qr') === true) shell.draw(drawQr(link))
  tellLifetime(created, { asked: fields, body, shell })
}

function toUpload(path: string): UploadFile {
  return { path, filename: basename(path), size: statSync(path).size }
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
  if (path !== undefined) return shell.readFile(path).replace(/\r?\n$/, '')
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
