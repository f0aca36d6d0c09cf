// `oncebox push`: creates a push of a text, a link, a QR code or files, and prints its secret link.

import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { parsePush, type RemotePush } from '../../client/answers.ts'
import type { PushClient } from '../../client/client.ts'
import { ClientFailure, RefusedFields } from '../../client/failure.ts'
import type { ApiFields } from '../../client/requests.ts'
import { fileUpload, type UploadFile } from '../../client/upload.ts'
import { DURATIONS, MAX_DAYS, MAX_VIEWS } from '../../domain/new-push.ts'
import { PUSH_KINDS } from '../../domain/push.ts'
import { DAY, HOUR, MINUTE } from '../../domain/time.ts'
import { duration, oneOf, type Parsed, truth, wholeNumber } from '../../settings/parsers.ts'
import type { Setting, SettingsTable } from '../../settings/setting.ts'
import { readInput, readNewPassphrase } from '../ask.ts'
import { repeated, toggle, valued } from '../command.ts'
import type { Clipboard } from '../desktop/clipboard.ts'
import { CommandFailure, presentFailure } from '../failures.ts'
import { formatCount, formatLimit } from '../format.ts'
import { fileText, recipients, STANDARD, sentFile } from '../paths.ts'
import { drawQr } from '../qr.ts'
import type { PushSealer } from '../sealed-push.ts'
import { loginNeeded, printJson, serverCommand } from '../server-command.ts'
import type { Shell } from '../shell.ts'

const DURATION_NAMES = DURATIONS.map((ms) =>
  ms >= DAY ? `${ms / DAY}d` : ms % HOUR === 0 ? `${ms / HOUR}h` : `${ms / MINUTE}m`,
)

/** Parses a duration to its index in the API's list. */
function durationIndex(text: string): Parsed<number> {
  const parsed = duration('1m', '3650d')(text)
  const value = 'value' in parsed ? DURATIONS.indexOf(parsed.value) : -1
  return value === -1 ? { problem: `must be one of ${DURATION_NAMES.join(', ')}` } : { value }
}

export function notBlank(value: string): Parsed<string> {
  return value === '' ? { problem: "can't be blank" } : { value }
}

/** Flags of a push's limits, by the names of their fields in the API. */
export const limitFlags = {
  expire_after_days: valued('days <number>', wholeNumber('1', String(MAX_DAYS))),
  expire_after_views: valued('views <number>', wholeNumber('1', String(MAX_VIEWS))),
  expire_after_duration: valued('duration <time>', durationIndex),
}

const switched = (words: `${string} <${string}>`) => ({ ...valued(words, truth), bare: 'true' })

/** Flags by the names of their fields in the API. */
const fieldFlags = {
  kind: valued(`kind <${PUSH_KINDS.join('|')}>`, oneOf(...PUSH_KINDS)),
  ...limitFlags,
  retrieval_step: switched('retrieval-step <true|false>'),
  deletable_by_viewer: switched('deletable-by-viewer <true|false>'),
  code_required: switched('code <true|false>'),
  name: valued('name <text>', notBlank),
  note: valued('note <text>', notBlank),
}

/** The flag, or the variable that it overrides. */
const endToEnd = {
  ...{ flag: 'end-to-end', placeholder: 'true|false', group: '', help: '', bare: 'true' },
  ...{ variable: 'ONCEBOX_PUSH_END_TO_END', parse: truth, default: null },
}

export const PUSH = serverCommand({
  name: 'push',
  operands: '[TEXT]',
  flags: {
    file: repeated('file <path>', sentFile),
    ...fieldFlags,
    endToEnd,
    to: repeated('to <age1…|file>', recipients),
    passphrase: toggle('passphrase'),
    passphraseFile: valued('passphrase-file <path>', fileText),
    paste: toggle('paste'),
    copy: toggle('copy'),
    notify: toggle('notify'),
    qr: toggle('qr'),
    json: toggle('json'),
  },
  sendsSecrets: true,
  problems: ({ flags: { file, name, paste, to, endToEnd }, operands }) => {
    const fromInput = file.filter((path) => path === STANDARD).length
    const isTwice = fromInput > 1 || (fromInput > 0 && operands[0] === STANDARD)
    return [
      isTwice && '--file -: standard input can be read only once',
      fromInput > 0 && name === null && '--file -: add --name, which also names the file',
      to.length > 0 && endToEnd === false && '--to encrypts end-to-end: leave out --end-to-end false',
      paste && operands.length > 0 && '--paste: leave the text out, because the clipboard has it',
    ]
  },
  refuse: async (cause, { raw, shell }) => {
    if (raw.notify !== undefined) await notifyOf(presentFailure(cause).lines, shell)
    return cause instanceof Error ? cause : new Error(String(cause))
  },
  act: orNotify(async ({ flags, operands: [text], shell, ...visit }) => {
    const { file, passphrase, passphraseFile, paste, copy, notify, qr, json, to, ...more } = flags
    const { endToEnd: wanted, ...fields } = more
    const clipboard = paste || copy ? await openClipboard({ mayAskTerminal: !paste }, shell) : null
    const uploads = file.map((path) => toUpload(path, fields.name, shell))
    if (uploads.length > 0 && !visit.isSignedIn) throw loginNeeded('Files need', visit.server)
    const typed = () => (text === undefined && uploads.length > 0 ? null : readPayload(text, shell))
    const payload = clipboard !== null && paste ? await pasteFrom(clipboard) : await typed()
    const asked = passphrase ? await readNewPassphrase(shell) : null
    const isSealed = to.length > 0 || (wanted ?? visit.endToEnd)
    using sealer = isSealed ? await createSealer(to.flat(), shell) : null
    const secrets = { payload, passphrase: passphraseFile ?? asked }
    const push = { fields: { ...secrets, ...fields }, files: uploads, shell }
    const { create } = visit.client
    const sent = await send(create, sealer === null ? push : await sealPush(sealer, push, file))
    const created = parsePush(sent.body)
    const plainLink = await visit.client.linkOf(created)
    const link = sealer === null ? plainLink : sealer.addKey(plainLink)
    const body = sealer === null ? sent.body : { ...Object(sent.body), html_url: link }
    if (sealer !== null) warnOfSealed(created, sealer, shell)
    if (json) printJson(body, shell)
    else shell.print(link)
    if (fields.code_required) tellCode(Object(body).code, shell)
    if (qr) shell.draw(drawQr(link))
    if (copy) await clipboard?.copy(link)
    else if (paste) await clipboard?.clearIf(payload ?? '')
    const views = created.viewsRemaining === null ? '' : `${formatCount(created.viewsRemaining, 'view')} or `
    const limits = `It expires after ${views}${formatLimit(created)}, whichever comes first.`
    shell.say(limits)
    if (notify) await notifyOf([copy ? 'The secret link is on the clipboard.' : 'Shared.', limits], shell)
    // Other servers may ignore a duration and report only days.
    const isKnown = typeof body === 'object' && body !== null && 'expire_after_duration' in body
    if (fields.expire_after_duration !== null && created.expiresAt === null && !isKnown)
      shell.warn('this server may have ignored --duration; --days is safe.')
  }),
})

async function openClipboard(options: { mayAskTerminal: boolean }, shell: Shell): Promise<Clipboard> {
  const clipboard = await import('../desktop/clipboard.ts')
  return clipboard.openClipboard(shell, options)
}

async function pasteFrom(clipboard: Clipboard): Promise<string> {
  const text = await clipboard.paste()
  if (text.trim() === '') throw new CommandFailure('There is nothing to push: the clipboard holds no text.')
  return text
}

type Noted = { flags: { notify: boolean }; shell: Shell }

/** Returns an action that also notifies of its failure, because a menu has no terminal. */
function orNotify<G extends Noted>(act: (given: G) => Promise<void>): (given: G) => Promise<void> {
  return async (given) => {
    try {
      await act(given)
    } catch (cause) {
      if (given.flags.notify) await notifyOf(presentFailure(cause).lines, given.shell)
      throw cause
    }
  }
}

/** Prints the code besides the link. An older server sends none. */
function tellCode(code: unknown, shell: Shell): void {
  if (typeof code === 'string' && /^\d{2}$/.test(code))
    shell.say(`Code for the recipient, along with the link: ${code}`)
  else shell.warn('this server ignored --code: its page asks for none.')
}

/** Shows a notification. If that is impossible, explains on standard error what is missing. */
async function notifyOf(lines: readonly string[], shell: Shell): Promise<void> {
  const { missingNotifier, notify } = await import('../desktop/notification.ts')
  if (await notify(lines.join(' '), shell.os)) return
  shell.warn(missingNotifier(shell.os) ?? 'the system showed no notification.')
}

/** Loaded only when needed. */
export async function createSealer(to: readonly string[], shell: Shell): Promise<PushSealer> {
  return (await import('../sealed-push.ts')).createPushSealer(to, shell)
}

/** Encrypts the text and the files of a push. `paths`: where the files are. */
export async function sealPush(
  sealer: PushSealer,
  push: PushToSend,
  paths: readonly string[],
): Promise<PushToSend> {
  const { payload, name } = push.fields
  const files: UploadFile[] = []
  for (const [index, file] of push.files.entries()) {
    const path = paths[index] ?? STANDARD
    const position = { n: index + 1, of: paths.length }
    files.push(await sealer.sealFile(file, path === STANDARD ? null : path, position))
  }
  // Use no name for a stream, because the server must not learn that of its file.
  const isNameOfFile = paths.includes(STANDARD)
  const sealed = typeof payload === 'string' ? await sealer.sealText(payload) : null
  const fields = { ...push.fields, payload: sealed, name: isNameOfFile ? null : (name ?? null) }
  return { ...push, fields: { ...fields, ...sealer.fields }, files, isRepeatable: true }
}

function warnOfSealed(created: RemotePush, { recipients }: PushSealer, { warn }: Shell): void {
  const { isEndToEnd, viewsRemaining } = created
  if (!isEndToEnd)
    warn(
      'this server does not know end-to-end pushes: its pages show the encrypted text, and "oncebox get" opens it.',
    )
  if (viewsRemaining !== null && viewsRemaining < recipients)
    warn(`it can be opened ${formatCount(viewsRemaining, 'time')}, and has ${recipients} recipients.`)
}

type PushToSend = { fields: ApiFields; files: UploadFile[]; shell: Shell; isRepeatable?: true }

/** Sends a push, or an answer, and shows the progress of its files. */
export async function send(create: PushClient['create'], push: PushToSend) {
  const { fields, files, shell, isRepeatable = false } = push
  // A text is sent at once, so show no progress.
  let isSent = files.length === 0
  const progress = shell.startProgress('Sending', () =>
    isSent ? 'cancelled; it may have been created anyway' : 'cancelled; nothing was sent',
  )
  const onProgress = (sent: number, total: number | null) => {
    isSent = sent === total
    progress.update(sent, total)
  }
  return create({ fields, files, onProgress, isRepeatable })
    .catch((cause) => nameFlags(cause))
    .finally(progress.stop)
}

export function toUpload(path: string, name: string | null, shell: Shell): UploadFile {
  if (path !== STANDARD) return fileUpload({ path, filename: basename(path), size: statSync(path).size })
  tellInput('content of the file', shell)
  return { filename: basename(name ?? '') || 'file', size: null, read: shell.readInputBytes }
}

function tellInput(what: string, { isInputTerminal, say }: Shell): void {
  if (isInputTerminal) say(`Type or paste the ${what}; end it with Ctrl-D on its own line.`)
}

export async function readPayload(text: string | undefined, shell: Shell): Promise<string> {
  const payload = text === undefined || text === STANDARD ? await readText(shell) : text
  if (payload.trim() === '') throw new CommandFailure('There is nothing to send: the text is blank.')
  return payload
}

async function readText(shell: Shell): Promise<string> {
  tellInput('text', shell)
  const text = await readInput(shell)
  if (text === null) throw new CommandFailure('Standard input is not text in UTF-8: send it with --file.')
  return /^[^\r\n]*\r?\n$/.test(text) ? text.replace(/\r?\n$/, '') : text
}

/** Names on the command line for fields without a flag. */
const WORDS: Record<string, string> = {
  ...{ payload: 'The text', passphrase: 'The passphrase', files: '--file', end_to_end: '--end-to-end' },
}

/** Rethrows a failure with the names of flags instead of fields. */
export function nameFlags(cause: unknown, table: SettingsTable = fieldFlags): never {
  if (!(cause instanceof RefusedFields)) throw cause
  const flags = new Map(Object.entries<Setting>(table).map(([field, { flag }]) => [field, `--${flag}`]))
  const named = Object.entries(cause.fields).map(([field, problems]) => {
    const name = flags.get(field) ?? WORDS[field]
    if (name === undefined) throw cause
    return problems.map((said) => `${name} ${said}`)
  })
  throw new ClientFailure(cause.kind, `${named.flat().join('. ')}.`)
}
