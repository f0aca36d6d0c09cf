// `oncebox push`: creates a push of a text, a link, a QR code or files, and prints its secret link.

import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { parsePush, type RemotePush } from '../client/answers.ts'
import type { PushFields } from '../client/client.ts'
import { ClientFailure, RefusedFields } from '../client/failure.ts'
import { fileUpload, type UploadFile } from '../client/upload.ts'
import { readNewPassphrase, readPassphraseFile } from './ask.ts'
import type { Given } from './command.ts'
import { CommandFailure } from './failures.ts'
import { formatCount, formatLimit } from './format.ts'
import { STANDARD } from './paths.ts'
import { drawQr } from './qr.ts'
import type { Shell } from './shell.ts'
import { loginNeeded, printJson, type Visit } from './visit.ts'

export type LimitFlags = {
  name: string | null
  note: string | null
  days: number | null
  views: number | null
  duration: number | null
}

type PushFlags = LimitFlags & {
  file: string[]
  kind: string | null
  passphrase: boolean
  passphraseFile: string | null
  retrievalStep: boolean | null
  deletableByViewer: boolean | null
  qr: boolean
  json: boolean
}

export async function push({ flags, operands, shell, ...visit }: Given<PushFlags> & Visit): Promise<void> {
  const files = flags.file.map((path) => toUpload(path, flags.name, shell))
  if (files.length > 0 && !visit.isSignedIn) throw loginNeeded('Files need', visit.server)
  const payload = await readPayload(operands[0], { hasFiles: files.length > 0, shell })
  const passphrase =
    flags.passphraseFile !== null
      ? readPassphraseFile(flags.passphraseFile, { shell, command: 'push' })
      : flags.passphrase
        ? await readNewPassphrase(shell)
        : undefined
  const asked = {
    ...limitFields(flags),
    kind: flags.kind ?? undefined,
    retrieval_step: flags.retrievalStep ?? undefined,
    deletable_by_viewer: flags.deletableByViewer ?? undefined,
  }
  const { body } = await send(visit, { fields: { payload, ...asked, passphrase }, files, shell })
  const created = parsePush(body)
  const link = await visit.client.linkOf(created)
  if (flags.json) printJson(body, shell)
  else shell.print(link)
  if (flags.qr) shell.draw(drawQr(link))
  tellLifetime(created, { asked, body, shell })
}

/** The flags as fields of the API, for an edit too. */
export function limitFields({ name, note, days, views, duration }: LimitFlags): PushFields {
  return {
    name: name ?? undefined,
    note: note ?? undefined,
    expire_after_days: days ?? undefined,
    expire_after_views: views ?? undefined,
    expire_after_duration: duration ?? undefined,
  }
}

type Sending = { fields: PushFields; files: UploadFile[]; shell: Shell }

async function send({ client }: Pick<Visit, 'client'>, { fields, files, shell }: Sending) {
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

function toUpload(path: string, name: string | null, shell: Shell): UploadFile {
  if (path !== STANDARD) return fileUpload({ path, filename: basename(path), size: statSync(path).size })
  if (shell.isInputTerminal)
    shell.say('Type or paste the content of the file; end it with Ctrl-D on its own line.')
  const filename = basename(name ?? '') || 'file'
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

type Told = { asked: PushFields; body: unknown; shell: Shell }

/** Other servers may ignore a duration and only report days. */
function tellLifetime(created: RemotePush, { asked, body, shell }: Told): void {
  const { viewsRemaining, expiresAt } = created
  const views = viewsRemaining === null ? '' : `${formatCount(viewsRemaining, 'view')} or `
  shell.say(`It expires after ${views}${formatLimit(created)}, whichever comes first.`)
  const ignored = asked.expire_after_duration !== undefined && expiresAt === null
  const isKnown = typeof body === 'object' && body !== null && 'expire_after_duration' in body
  if (ignored && !isKnown)
    shell.say('oncebox: warning: this server may have ignored --duration; --days is safe.')
}

/** The name of each field on the command line. */
const FLAGS: Record<string, string> = {
  payload: 'The text',
  kind: '--kind',
  expire_after_days: '--days',
  expire_after_views: '--views',
  expire_after_duration: '--duration',
  passphrase: 'The passphrase',
  retrieval_step: '--retrieval-step',
  deletable_by_viewer: '--deletable-by-viewer',
  name: '--name',
  note: '--note',
  files: '--file',
}

/** The same failure, with the names of flags instead of fields. */
export function nameFlags(cause: unknown): unknown {
  if (!(cause instanceof RefusedFields)) return cause
  const entries = Object.entries(cause.fields)
  if (!entries.every(([field]) => Object.hasOwn(FLAGS, field))) return cause
  const sentences = entries.flatMap(([field, problems]) => problems.map((said) => `${FLAGS[field]} ${said}`))
  return new ClientFailure(cause.kind, `${sentences.join('. ')}.`)
}
