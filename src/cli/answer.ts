// Answers a request: sends its owner a secret, encrypted if the request has a key.

import type { PushClient } from '../client/client.ts'
import { ClientFailure, RefusedFields } from '../client/failure.ts'
import { printableLine } from '../text/printable.ts'
import { unopened } from './age-keys.ts'
import { askSecret } from './ask.ts'
import type { CommandInput } from './command.ts'
import { createSealer, readPayload, sealPush, send, toUpload } from './commands/push.ts'
import { STANDARD } from './paths.ts'
import { printJson, type ServerCall } from './server-command.ts'
import type { Shell } from './shell.ts'

type AnswerFlags = { file: string[]; name: string | null; passphraseFile: string | null; json: boolean }

type AnswerInput = Pick<CommandInput<AnswerFlags>, 'flags' | 'operands' | 'shell'> & ServerCall

/** Throws ClientFailure, before anything is sent, if the request's key is not the one that its link names. */
export async function sendAnswer({ client, shell, flags, operands, ...call }: AnswerInput): Promise<void> {
  const { server, isSignedIn, urlToken, fragment } = call
  const [link, text] = operands
  const { file, name, passphraseFile, json } = flags
  const asked = await client.findAsked(urlToken)
  const recipient = await requireRecipient(asked.recipient, fragment)
  tellAsked(asked, shell)
  if (recipient !== null) await tellRecipient(recipient, fragment, shell)
  const hasText = text !== undefined || file.length === 0
  requireAsked(asked, { hasText, hasFiles: file.length > 0 })
  const uploads = file.map((path) => toUpload(path, name, shell))
  const read = () => (link === STANDARD && text === undefined ? askText(shell) : text)
  const payload = hasText ? await readPayload(await read(), shell) : null
  const passphrase = asked.isPassphraseNeeded ? (passphraseFile ?? (await askPassphrase(shell))) : null
  using sealer = recipient === null ? null : await createSealer([recipient], shell)
  const push = { fields: { payload }, files: uploads, shell }
  const sealed = sealer === null ? push : await sealPush(sealer, push, file)
  const answer: PushClient['create'] = (ready) =>
    client.answer(urlToken, { ...ready, passphrase }).catch((cause) => {
      throw cause instanceof RefusedFields && 'end_to_end' in cause.fields ? onlyInBrowser(server) : cause
    })
  const sent = await send(answer, sealed).catch((cause) => {
    throw isSignedIn || !isTokenMissing(cause) ? cause : onlyAfterLogin(server)
  })
  if (json) printJson(sent.body, shell)
  else shell.say('It has arrived.')
}

/** Whether the API is only for accounts: --anonymous-access false. */
function isTokenMissing(cause: unknown): boolean {
  return cause instanceof ClientFailure && cause.kind === 'refused' && cause.message.includes('API token')
}

function onlyAfterLogin(server: string): ClientFailure {
  const login = `"oncebox login ${server}"`
  return new ClientFailure('refused', `This server needs ${login} for this command. Its page needs no login.`)
}

/** Returns the failure for a server with --end-to-end off, which accepts only answers that it can read. */
function onlyInBrowser(server: string): ClientFailure {
  return new ClientFailure(
    'failed',
    `${server} takes no answer that is encrypted before it arrives. Its page does without: the server encrypts there.`,
  )
}

async function askPassphrase({ isTerminal, askHidden }: Shell): Promise<string> {
  if (isTerminal) return askHidden('Passphrase of the request')
  throw new ClientFailure('refused', 'This request needs a passphrase: name its file with --passphrase-file.')
}

/** Asks on the terminal for the text, because standard input held the link. */
function askText(shell: Shell): Promise<string> {
  const remedy = 'give the link as an argument and pipe the text in, or use --file'
  return askSecret(shell, { what: 'text', question: 'Text', remedy })
}

/**
 * Returns the key to encrypt for; null if the request has none. Throws ClientFailure if it does not match the
 * fingerprint in the link, or if it is malformed.
 */
async function requireRecipient(recipient: string | null, fragment: string | null): Promise<string | null> {
  if (recipient === null && fragment === null) return null
  const { fingerprintOf, isFingerprint } = await import('../age/keys.ts')
  if (fragment !== null && !isFingerprint(fragment))
    throw refused('The link was cut or changed: after # it has 22 characters. Ask for the whole link.')
  if (recipient === null)
    throw refused('The link names an age key, and the server says that the request has none.')
  if (fragment !== null && fingerprintOf(recipient) !== fragment)
    throw refused('The server names another age key than the link does, which others could open.')
  const { sealText } = await import('../age/sealing.ts')
  await sealText('', [recipient]).catch(() => {
    throw refused('The server names an age key that cannot encrypt.')
  })
  return recipient
}

function refused(why: string): ClientFailure {
  return unopened(why, ' Nothing was sent.')
}

type AskedContent = Awaited<ReturnType<PushClient['findAsked']>>

/** Marks each line of the message, so that none looks like a line of this program. */
function tellAsked({ asker, message }: AskedContent, { say }: Shell): void {
  if (asker !== null) say(`${printableLine(asker)} asks:`)
  if (message !== '') say(...message.split('\n').map((line) => `> ${line}`))
}

async function tellRecipient(recipient: string, fragment: string | null, { say }: Shell): Promise<void> {
  if (fragment !== null) return say('It is encrypted here, for the age key that the link names.')
  const { comparedFingerprintOf } = await import('../age/keys.ts')
  say(
    `It is encrypted here, for the age key with the fingerprint ${comparedFingerprintOf(recipient)}.`,
    'The link does not prove that key: compare the fingerprint with the person who asks.',
  )
}

/** Throws ClientFailure, before the user types anything, for content that the request does not ask for. */
function requireAsked(
  { accept }: AskedContent,
  { hasText, hasFiles }: { hasText: boolean; hasFiles: boolean },
): void {
  if (hasFiles && !accept.includes('files'))
    throw new ClientFailure('failed', 'This request asks for a text, not for files: leave out --file.')
  if (hasText && !accept.includes('text'))
    throw new ClientFailure('failed', 'This request asks for files, not for a text: name them with --file.')
}
