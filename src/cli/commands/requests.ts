// `oncebox request` asks another person for a secret, `oncebox requests` lists the user's requests, and
// `oncebox answer` answers the request of another person.

import type { RemoteRequest } from '../../client/answers.ts'
import { ClientFailure } from '../../client/failure.ts'
import { ageRecipient } from '../../domain/age-recipient.ts'
import { MAX_ANSWERS } from '../../domain/requests.ts'
import { wholeNumber } from '../../settings/parsers.ts'
import { readNewPassphrase } from '../ask.ts'
import { repeated, toggle, valued } from '../command.ts'
import { formatCount, formatLocalTime } from '../format.ts'
import { fileText, STANDARD, sentFile } from '../paths.ts'
import { printJson, serverCommand } from '../server-command.ts'
import { json, page, printTable } from './own-pushes.ts'
import { limitFlags, nameFlags, notBlank } from './push.ts'

const { expire_after_days, expire_after_duration } = limitFlags

/** Flags by the names of their fields in the API. */
const fieldFlags = {
  message: valued('message <text>', notBlank),
  name: valued('name <text>', notBlank),
  max_answers: valued('answers <number>', wholeNumber('1', String(MAX_ANSWERS))),
  expire_after_days,
  expire_after_duration,
  recipient: valued('recipient <age1…>', ageRecipient),
}

export const REQUESTS = [
  serverCommand({
    name: 'request',
    needsLogin: true,
    sendsSecrets: true,
    flags: {
      text: toggle('text'),
      files: toggle('files'),
      ...fieldFlags,
      passphrase: toggle('passphrase'),
      passphraseFile: valued('passphrase-file <path>', fileText),
      json: toggle('json'),
    },
    act: async ({ client, flags, shell }) => {
      const { text, files, passphrase, passphraseFile, json, ...fields } = flags
      const asked = passphrase ? await readNewPassphrase(shell, 'Passphrase for the sender') : null
      const kinds = [...(text ? ['text'] : []), ...(files ? ['files'] : [])]
      const secrets = { accept: kinds.length === 0 ? null : kinds, passphrase: passphraseFile ?? asked }
      const made = client.createRequest({ ...fields, ...secrets })
      const { request, answer } = await made.catch((cause) => nameFlags(cause, fieldFlags))
      const link = await withFingerprint(linkOf(request), request, fields.recipient)
      if (json) printJson({ ...Object(answer), html_url: link }, shell)
      else shell.print(link)
      const answers = formatCount(request.maxAnswers, 'answer')
      shell.say(`It takes ${answers} until ${formatLocalTime(request.expiresAt)}.`)
      const identity = request.recipient === null ? '' : ' --identity FILE'
      shell.say(`To receive what arrives: oncebox get ${request.urlToken} --wait${identity}`)
      if (request.recipient !== null)
        shell.say(`Only the secret key of ${request.recipient} decrypts the answers: keep that key.`)
    },
  }),
  serverCommand({
    name: 'requests',
    needsLogin: true,
    flags: { page, json },
    act: async ({ client, flags: { page, json }, shell }) => {
      const { requests, answer } = await client.listRequests(page)
      if (json) return printJson(answer, shell)
      const rows = requests.map(rowOf)
      const shortLast = requests.map((request) => request.urlToken)
      const none = 'You have no requests.'
      const header = ['CREATED', 'ASKS FOR', 'NAME', 'ANSWERS', 'OPEN UNTIL', 'LINK']
      printTable(header, { rows, shortLast, stretch: 2, page, none }, shell)
    },
  }),
  serverCommand({
    name: 'answer',
    operands: 'LINK-OR-TOKEN|- [TEXT]',
    takesRequests: 'only',
    sendsSecrets: true,
    flags: {
      file: repeated('file <path>', sentFile),
      name: valued('name <text>', notBlank),
      passphraseFile: valued('passphrase-file <path>', fileText),
      json: toggle('json'),
    },
    problems: ({ flags: { file, name }, operands }) => [
      [...file, ...operands].filter((word) => word === STANDARD).length > 1 &&
        'standard input can be read only once: "-" stands there twice',
      file.includes(STANDARD) && name === null && '--file -: add --name, which names the file',
    ],
    act: async (given) => (await import('../answer.ts')).sendAnswer(given),
  }),
]

/**
 * Puts a fingerprint behind `#` for the sender's page or program to check, if the user named the key.
 * Otherwise the key comes from the server alone, and its fingerprint would prove nothing.
 */
async function withFingerprint(link: string, request: RemoteRequest, named: string | null): Promise<string> {
  if (named === null) return link
  const { fingerprintOf } = await import('../../age/keys.ts')
  if (request.recipient === named) return `${link}#${fingerprintOf(named)}`
  throw new ClientFailure('failed', 'The server has made the request for another key: it must not be used.')
}

/** Returns the link to share. Throws ClientFailure if it is not safe to open. */
function linkOf({ htmlUrl }: RemoteRequest): string {
  if (htmlUrl !== null) return htmlUrl
  throw new ClientFailure('failed', "The request was created, but the server's link is not safe to open.")
}

function rowOf(request: RemoteRequest): string[] {
  const { createdAt, accept, name, answers, maxAnswers, closed, expiresAt, htmlUrl, urlToken } = request
  return [
    formatLocalTime(createdAt),
    accept.join(', '),
    name || '-',
    `${answers ?? '?'} of ${maxAnswers ?? '?'}`,
    closed ? 'closed' : formatLocalTime(expiresAt),
    htmlUrl ?? urlToken,
  ]
}
