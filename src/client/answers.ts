// Parses the responses of servers with care, because this API is also offered by servers other than Oncebox.

import { authorityOf } from '../text/web-address.ts'
import { parseJsonBody } from './answer-body.ts'
import { ClientFailure } from './failure.ts'
import { isUrlToken } from './link.ts'

export type RemoteFile = { filename: string; url: string; size: number | null }

type Members = Record<string, unknown>

/** The most that Oncebox can be configured to accept. */
const MAX_FILES = 1000
const MAX_WORD_CHARACTERS = 1000
/** Longer than most servers accept in a request. */
const MAX_URL_CHARACTERS = 8000

export type RemotePush = ReturnType<typeof parsePush>

export function parsePush(body: unknown) {
  const members = membersOf(body)
  return {
    ...parseListed(members, 'a push'),
    kind: wordOf(members.kind) ?? 'text',
    expired: members.expired === true,
    expiredOn: wordOf(members.expired_on),
    deleted: members.deleted === true,
    daysRemaining: numberOf(members.days_remaining),
    viewsRemaining: numberOf(members.views_remaining),
    viewsAllowed: numberOf(members.expire_after_views),
    /** The exact time, which only Oncebox sends. */
    expiresAt: wordOf(members.expires_at),
    payload: textOf(members.payload),
    files: parseFiles(members.files),
    /** The token of the request that it answers, which only Oncebox sends. */
    request: wordOf(members.request),
    ...parseEndToEnd(members),
  }
}

/** Parses the members that exist only on end-to-end pushes of Oncebox. */
export function parseEndToEnd(body: unknown) {
  const { end_to_end, key_check } = Object(body)
  const isCheck = typeof key_check === 'string' && /^[0-9a-f]{8}$/.test(key_check)
  return { isEndToEnd: end_to_end === true, keyCheck: isCheck ? key_check : null }
}

export type RemoteRequest = ReturnType<typeof parseRequest>

export function parseRequest(body: unknown) {
  const members = membersOf(body)
  const accept = Array.isArray(members.accept) ? members.accept : []
  return {
    ...parseListed(members, 'a request'),
    accept: accept.flatMap((kind) => wordOf(kind) ?? []),
    expiresAt: wordOf(members.expires_at) ?? '',
    maxAnswers: numberOf(members.max_answers),
    answers: numberOf(members.answers),
    /** The public age key that answers are encrypted for. */
    recipient: textOf(members.recipient),
    closed: members.closed === true,
  }
}

/** Parses a request as its sender sees it. */
export function parseAsked(body: unknown) {
  const { accept, message, asker, passphrase_required, recipient = null } = membersOf(body)
  if (!Array.isArray(accept)) throw strange('something other than a request')
  if (recipient !== null && typeof recipient !== 'string') throw strange('a key that is no text')
  const isPassphraseNeeded = passphrase_required === true
  return { accept, message: textOf(message) ?? '', asker: wordOf(asker), isPassphraseNeeded, recipient }
}

/** Parses the members that pushes and requests share. */
function parseListed({ url_token, html_url, name, created_at }: Members, what: string) {
  const urlToken = textOf(url_token)
  if (urlToken === null || !isUrlToken(urlToken)) throw strange(`${what} without url_token`)
  return {
    urlToken,
    htmlUrl: textOf(html_url),
    name: wordOf(name) ?? '',
    createdAt: wordOf(created_at) ?? '',
  }
}

/** Returns the objects of a list as they were received. */
export function parseObjects(body: unknown): Members[] {
  if (!Array.isArray(body)) throw strange('something other than a list')
  return body.map(membersOf)
}

export function parseEntries(body: unknown) {
  return parseLogs(body).map(({ created_at, kind, ip, user_agent, referrer }) => {
    const text = (value: unknown) => wordOf(value) ?? ''
    return {
      at: text(created_at),
      kind: text(kind),
      ip: text(ip),
      userAgent: text(user_agent),
      referrer: text(referrer),
    }
  })
}

export function parseEventPage(body: unknown) {
  const { events, next: last } = membersOf(body)
  const next = numberOf(last)
  if (!Array.isArray(events) || next === null) throw strange('no list of events')
  return { events: events.map(parseEvent), next }
}

export type RemoteEvent = ReturnType<typeof parseEvent>

/** `members` are the event as received; `data` has those of its facts that are plain values. */
function parseEvent(event: unknown) {
  const members = membersOf(event)
  const id = numberOf(members.id)
  if (id === null) throw strange('an event without a number')
  const facts = Object.entries(Object(members.data)).flatMap(([name, value]) => {
    const fact = wordOf(value) ?? numberOf(value) ?? (typeof value === 'boolean' ? value : null)
    return fact === null || !FACT_NAME.test(name) ? [] : [[name, fact] as const]
  })
  const [type, timestamp] = [wordOf(members.type) ?? '', wordOf(members.timestamp) ?? '']
  return { id, type, timestamp, data: Object.fromEntries(facts), members }
}

/** Names of facts that may become part of a variable's name. */
const FACT_NAME = /^[a-z][a-z_]{0,39}$/

/** Returns the entries of a log as they were received. */
export function parseLogs(body: unknown): Members[] {
  const { logs } = membersOf(body)
  if (!Array.isArray(logs)) throw strange('no audit log')
  return logs.map(membersOf)
}

export function parseUrl(body: unknown): string {
  const url = textOf(membersOf(body).url)
  if (url === null) throw strange('no link')
  return url
}

/**
 * Parses a list of objects, or Password Pusher's form: JSON in a string, or an object from names to links.
 */
export function parseFiles(files: unknown): RemoteFile[] {
  if (typeof files === 'string' && files !== '') return parseFiles(parseJson(files))
  if (Array.isArray(files)) {
    if (files.length > MAX_FILES) throw strange(`more than ${MAX_FILES} files`)
    return files.map((file) => {
      const { filename, url, size } = membersOf(file)
      // The end of a long name has its extension.
      const name = textOf(filename)?.slice(-MAX_WORD_CHARACTERS) ?? 'file'
      return checkFile({ filename: name, url: textOf(url) ?? '', size: numberOf(size) })
    })
  }
  if (typeof files !== 'object' || files === null) return []
  const named = Object.entries(files).map(([filename, url]) => ({ filename, url }))
  return parseFiles(named)
}

/** Accepts a file without a link, because the answer to a create has none. */
function checkFile(file: RemoteFile): RemoteFile {
  const isShort = file.url.length <= MAX_URL_CHARACTERS
  if (file.url === '' || (isShort && authorityOf(file.url) !== null)) return file
  throw strange('a file without a web address')
}

function parseJson(text: string): unknown {
  const parsed = parseJsonBody(Buffer.from(text))
  if (parsed === undefined) throw strange('an unreadable list of files')
  return parsed
}

function membersOf(value: unknown): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw strange('something other than an object')
  return value as Members
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Shortens text that is only displayed. */
function wordOf(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, MAX_WORD_CHARACTERS) : null
}

/** Returns null unless the value is a whole number that is not negative. */
function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

function strange(what: string): ClientFailure {
  return new ClientFailure('failed', `The server answered with ${what}.`)
}
