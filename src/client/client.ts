// The client for version 2 of the push API and for Oncebox's additions: requests, which ask others for a
// secret, and events.

import {
  parseAsked,
  parseEndToEnd,
  parseEntries,
  parseEventPage,
  parseLogs,
  parseObjects,
  parsePush,
  parseRequest,
  parseUrl,
  type RemotePush,
  type RemoteRequest,
} from './answers.ts'
import { createDial, type DialOptions } from './dial.ts'
import { createDownloadBytes, createDownloadPart } from './download.ts'
import { ClientFailure, LostAnswer } from './failure.ts'
import { acceptLink } from './link.ts'
import { checkLink, findAddresses } from './network-zones.ts'
import {
  type ApiFields,
  type AskOptions,
  type Call,
  createAsk,
  expectStatus,
  givenOf,
  messageIn,
  refusalOf,
  type ServerAnswer,
  sendFields,
} from './requests.ts'
import { createUpload, type UploadFile } from './upload.ts'

type NewRemotePush = {
  fields: ApiFields
  files: UploadFile[]
  /** Called with the bytes sent so far, and the total if it is known. */
  onProgress: (sent: number, total: number | null) => void
  /**
   * Whether to send the same bytes again under an Idempotency-Key when the answer was lost. Only Oncebox
   * knows the key.
   */
  isRepeatable?: boolean
}

/** `passphrase`: that of the request. */
type NewAnswer = Omit<NewRemotePush, 'isRepeatable'> & { passphrase: string | null }

/** `doubt`: the message if the change may have been made although the response was lost. */
type SendRules = { isRepeatable: boolean; doubt: string }

/** `answer` is the response body as received. */
type Retrieved =
  | { outcome: 'push'; push: RemotePush; answer: unknown }
  | { outcome: 'passphrase_wanted'; message: string }

export type ServerVersion = { applicationVersion: string; isOncebox: boolean }

export type PushClient = ReturnType<typeof createClient>

const PUSHES = '/api/v2/pushes'
const REQUESTS = '/api/oncebox/requests'
const MIB = 1024 * 1024
/** The largest text that Oncebox can be configured to accept, with each byte escaped as six. */
const MAX_RETRIEVED_BYTES = 6 * 16 * MIB + MIB
/** Enough for fifty pushes with their notes, fifty requests with their messages, or 500 events. */
const MAX_LIST_BYTES = 16 * MIB

type PushClientOptions = Omit<AskOptions, 'dial'> &
  DialOptions & {
    /** Whether the environment names a proxy for requests. */
    hasProxy: boolean
    newBoundary: () => string
  }

/** The options that differ between commands. */
export type ServerToAsk = Pick<
  PushClientOptions,
  'server' | 'apiToken' | 'maxTries' | 'onWait' | 'caCerts' | 'authority' | 'hasProxy'
>

export function createClient(options: PushClientOptions) {
  const { server, patienceMs, hasProxy } = options
  const dial = createDial(options)
  const ask = createAsk({ ...options, dial })
  const get = async (path: string, call?: Call) => expectStatus(200, await ask(path, call))
  const downloading = {
    ...{ dial, patienceMs },
    checkLink: (url: string) => checkLink(url, { server, findAddresses, hasProxy }),
  }
  const downloadPart = createDownloadPart(downloading)
  const downloadBytes = createDownloadBytes(downloading)

  /** Throws ClientFailure when the server does not offer this API. */
  async function version(): Promise<ServerVersion> {
    const answer = await ask('/api/v2/version')
    const { status, body } = answer
    if (status >= 500 || status === 429) throw refusalOf(answer)
    if (status !== 200 || typeof body !== 'object' || body === null) {
      throw new ClientFailure('failed', `${options.server} does not support version 2 of this API.`)
    }
    const given = 'application_version' in body ? body.application_version : null
    const applicationVersion = typeof given === 'string' ? given.slice(0, 40) : 'unknown'
    return { applicationVersion, isOncebox: 'limits' in body }
  }

  function create({ isRepeatable = false, ...push }: NewRemotePush): Promise<ServerAnswer> {
    return sendNew(PUSHES, callFor(push), { isRepeatable, doubt: 'The push may have been created anyway.' })
  }

  async function sendNew(
    path: string,
    call: Call,
    { isRepeatable, doubt }: SendRules,
  ): Promise<ServerAnswer> {
    try {
      return expectStatus(201, await (isRepeatable && !call.isSentOnce ? sendKeyed : ask)(path, call))
    } catch (cause) {
      if (!(cause instanceof LostAnswer)) throw cause
      throw new ClientFailure('unavailable', `${cause.message} ${doubt}`)
    }
  }

  /** Sends the same bytes under the same Idempotency-Key again when the response was lost. */
  async function sendKeyed(path: string, call: Call): Promise<ServerAnswer> {
    const keyed = { ...call, headers: { ...call.headers, 'idempotency-key': options.newBoundary() } }
    return ask(path, keyed).catch((cause) => {
      if (!(cause instanceof LostAnswer)) throw cause
      return ask(path, keyed)
    })
  }

  function callFor({ fields, files, onProgress }: Omit<NewRemotePush, 'isRepeatable'>): Call {
    if (files.length === 0) return sendFields('POST', 'push', fields)
    const texts = givenOf(fields).map(([name, value]): [string, string] => [`push[${name}]`, String(value)])
    const upload = createUpload({ texts, files, boundary: options.newBoundary(), onProgress })
    return { method: 'POST', isLong: true, ...upload }
  }

  /** Counts as a view, unless a passphrase is required. */
  async function retrieve(urlToken: string, passphrase: string | null): Promise<Retrieved> {
    const encoded = passphrase === null ? null : encodeURIComponent(passphrase)
    // Prefer the header, because URLs end up in logs. Only Oncebox supports it.
    const isHeader = encoded !== null && (await version()).isOncebox
    const query = encoded === null || isHeader ? '' : `?passphrase=${encoded}`
    const answer = await ask(`${PUSHES}/${urlToken}${query}`, {
      maxBytes: MAX_RETRIEVED_BYTES,
      headers: isHeader ? { 'x-push-passphrase': encoded } : {},
    })
    const message = messageIn(answer.body) ?? ''
    if (answer.status === 401 && /passphrase/i.test(message)) return { outcome: 'passphrase_wanted', message }
    return { outcome: 'push', push: parsePush(expectStatus(200, answer).body), answer: answer.body }
  }

  /** The link to share. Throws ClientFailure if the server's link is not safe to open. */
  async function linkOf({ htmlUrl, urlToken }: RemotePush): Promise<string> {
    const given = htmlUrl ?? (await preview(urlToken))
    const link = acceptLink(given, server)
    if (link !== null) return link
    const isStepDown = /^https:/i.test(server) && /^http:/i.test(given)
    const why = isStepDown ? 'is not encrypted, although the server is' : 'is not a plain web address'
    throw new ClientFailure(
      'failed',
      `The push ${urlToken} was created, but the server's link ${why}, so it is not shown. ` +
        'Behind a proxy, the server needs --base-url or --trusted-proxy.',
    )
  }

  async function preview(urlToken: string): Promise<string> {
    return parseUrl((await get(`${PUSHES}/${urlToken}/preview`)).body)
  }

  /**
   * Resolves to whether the push can be opened and which key it needs. Never counts as a view. If the server
   * does not report this (`isTold` is false), the others are false.
   */
  async function check(urlToken: string) {
    const { body } = await get(`${PUSHES}/${urlToken}/preview`)
    const { expired, passphrase_required } = Object(body)
    const isTold = typeof expired === 'boolean'
    const needsPassphrase = passphrase_required === true
    return { isTold, isExpired: expired === true, needsPassphrase, ...parseEndToEnd(body) }
  }

  function expire(urlToken: string): Promise<ServerAnswer> {
    return get(`${PUSHES}/${urlToken}`, { method: 'DELETE' })
  }

  /** Edits a push. An empty name or note removes it. */
  function edit(urlToken: string, fields: ApiFields): Promise<ServerAnswer> {
    return get(`${PUSHES}/${urlToken}`, sendFields('PATCH', 'push', fields))
  }

  /** `members` are the entries as received. */
  async function audit(urlToken: string, page: number) {
    const { body } = await get(`${PUSHES}/${urlToken}/audit?page=${page}`)
    return { entries: parseEntries(body), members: parseLogs(body), answer: body }
  }

  /**
   * `before` limits the list to older pushes; only Oncebox supports it. `members` are the pushes as
   * received.
   */
  async function list(group: 'active' | 'expired', page: number, before: string | null = null) {
    const query = before === null ? `page=${page}` : `page=${page}&before=${before}`
    const { body, headers } = await get(`${PUSHES}/${group}?${query}`, { maxBytes: MAX_LIST_BYTES })
    const leftOut = countIn(headers.get('x-oncebox-left-out'))
    const members = parseObjects(body)
    const pushes = members.map((listed) => withSafeLink(parsePush(listed)))
    return { pushes, leftOut, members, answer: body }
  }

  /** Replaces a link that is not safe to open by null. */
  function withSafeLink<T extends { htmlUrl: string | null }>(remote: T): T {
    return { ...remote, htmlUrl: remote.htmlUrl && acceptLink(remote.htmlUrl, server) }
  }

  const missing = `${server} offers neither requests nor events: it is an older Oncebox or another program.`
  const getList = async (path: string) =>
    expectStatus(200, await ask(path, { maxBytes: MAX_LIST_BYTES }), missing).body
  const readRequest = (body: unknown) => withSafeLink(parseRequest(body))

  /** `answer` is the response body as received. */
  async function createRequest(fields: ApiFields) {
    const sent = await ask(REQUESTS, sendFields('POST', 'request', fields))
    const { body } = expectStatus(201, sent, missing)
    return { request: readRequest(body), answer: body }
  }

  async function listRequests(page: number) {
    const answer = await getList(`${REQUESTS}?page=${page}`)
    return { requests: parseObjects(answer).map(readRequest), answer }
  }

  async function findRequest(urlToken: string): Promise<RemoteRequest> {
    return readRequest((await get(`${REQUESTS}/${urlToken}`)).body)
  }

  function closeRequest(urlToken: string): Promise<ServerAnswer> {
    return get(`${REQUESTS}/${urlToken}`, { method: 'DELETE' })
  }

  /** Fetches what the sender's page shows about a request. */
  async function findAsked(urlToken: string) {
    return parseAsked((await get(`/q/${urlToken}`)).body)
  }

  /** Answers a request, once even if the response is lost. A stream is not repeated. */
  function answer(urlToken: string, { passphrase, ...push }: NewAnswer): Promise<ServerAnswer> {
    const call = callFor(push)
    // Send the passphrase in a header, so that the server can check it before the first file.
    const secret = passphrase === null ? {} : { 'x-push-passphrase': encodeURIComponent(passphrase) }
    const sent = { ...call, headers: { ...call.headers, ...secret } }
    const doubt = 'The answer may have arrived anyway.'
    return sendNew(`${REQUESTS}/${urlToken}/answers`, sent, { isRepeatable: true, doubt })
  }

  /**
   * Lists the events after number `after`; null lists all that the server still has. Throws ClientFailure of
   * kind `gone` if the server has discarded some of them.
   */
  async function listEvents({ after, wait }: { after: number | null; wait: number }) {
    const query = `?wait=${wait}${after === null ? '' : `&after=${after}`}`
    return parseEventPage(await getList(`/api/oncebox/events${query}`))
  }

  return {
    ...{ version, create, linkOf, check, retrieve, expire, edit, audit, list },
    ...{ downloadPart, downloadBytes },
    ...{ createRequest, listRequests, findRequest, closeRequest, findAsked, answer, listEvents },
  }
}

function countIn(header: string | null): number {
  return /^\d{1,6}$/.test(header ?? '') ? Number(header) : 0
}
