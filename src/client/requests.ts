// Sends one request to a server of this API: retries while the server is busy, and explains failures.

import { parseJsonBody, type ReadLimits, readBody } from './answer-body.ts'
import type { Dial } from './dial.ts'
import { ClientFailure, type ClientFailureKind, LostAnswer, RefusedFields } from './failure.ts'
import { createWatch, type Watch } from './watch.ts'

export type Call = {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  headers?: Record<string, string>
  /** Creates the body for each try; calls `count` with the bytes that it sends. */
  body?: (count: Watch['count']) => BodyInit
  /** Whether the body can be sent only once, so that there is no retry. */
  isSentOnce?: boolean
  /** The largest accepted response, in bytes. */
  maxBytes?: number
  /** Whether the request may take any time as long as it makes progress. */
  isLong?: boolean
}

/** Fields by their names in the API. Null values are not sent. */
export type ApiFields = Record<string, string | number | boolean | readonly string[] | null>

export function givenOf(fields: ApiFields) {
  return Object.entries(fields).filter(([, value]) => value !== null)
}

/** Builds a call that sends the fields as JSON in the API's wrapper. */
export function sendFields(method: 'POST' | 'PATCH', wrapper: 'push' | 'request', fields: ApiFields): Call {
  const body = JSON.stringify({ [wrapper]: Object.fromEntries(givenOf(fields)) })
  return { method, headers: { 'content-type': 'application/json' }, body: () => body }
}

export type AskOptions = {
  /** The URL that paths are appended to. */
  server: string
  apiToken: string | null
  dial: Dial
  /** Timeout without progress. */
  patienceMs: number
  /** The maximum number of tries while the server is busy. */
  maxTries?: number
  /** Called before waiting for as long as the server asked. */
  onWait: (seconds: number) => void
}

/** A response with its JSON body, whatever its status. */
export type ServerAnswer = { status: number; headers: Headers; body: unknown }

type AskServer = (path: string, call?: Call) => Promise<ServerAnswer>

const MAX_TRIES = 4
const LONGEST_WAIT_SECONDS = 60
const MAX_BYTES = 1024 * 1024
/** The deadline of a whole request, as a multiple of the timeout without progress. */
const LONGEST_ANSWER = 10
const MAX_REASON_CHARACTERS = 500

export function createAsk(options: AskOptions): AskServer {
  const { server, apiToken, dial, patienceMs, maxTries = MAX_TRIES, onWait } = options
  const authorization: Record<string, string> =
    apiToken === null ? {} : { authorization: `Bearer ${apiToken}` }

  async function tryOnce(
    path: string,
    call: Call,
    isLast: boolean,
  ): Promise<ServerAnswer | { wait: number }> {
    const { method = 'GET', headers, body, isLong, maxBytes = MAX_BYTES } = call
    using watch = createWatch(isLong ? 2 * patienceMs : patienceMs)
    const end = isLong ? [] : [AbortSignal.timeout(LONGEST_ANSWER * patienceMs)]
    const response = await dial(`${server}${path}`, {
      method,
      headers: { accept: 'application/json', ...authorization, ...headers },
      signal: AbortSignal.any([watch.signal, ...end]),
      ...(body === undefined ? {} : { body: body(watch.count) }),
    })
    const wait = isLast ? null : secondsToWait(response)
    if (wait === null) return await read(response, { server, maxBytes, watch })
    // Discard the body: an unread one would keep the connection open.
    await response.body?.cancel()
    return { wait }
  }

  return async (path, call = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await tryOnce(path, call, attempt === maxTries || call.isSentOnce === true)
      if (!('wait' in answer)) return answer
      onWait(answer.wait)
      await Bun.sleep(answer.wait * 1000)
    }
  }
}

/**
 * Returns the seconds to wait; null unless the server asks for a retry. It does so if it is busy (429, 503),
 * when it has stored and counted nothing, or if it still works on the same Idempotency-Key (409).
 */
function secondsToWait({ status, headers }: Response): number | null {
  if (status !== 429 && status !== 503 && status !== 409) return null
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return seconds >= 0 && seconds <= LONGEST_WAIT_SECONDS ? Math.max(1, seconds) : null
}

async function read(response: Response, limits: ReadLimits): Promise<ServerAnswer> {
  const { status, headers } = response
  const { server } = limits
  if (status >= 300 && status < 400) {
    await response.body?.cancel()
    const target = headers.get('location') ?? 'another address'
    throw new ClientFailure('failed', `${server} redirects to ${cut(target)}: log in to that server instead.`)
  }
  const body = parseJsonBody(await readBody(response, limits))
  if (body !== undefined) return { status, headers, body }
  // A proxy answered instead of the server, perhaps after the server had carried out the request.
  if (status >= 500)
    throw new LostAnswer(
      'unavailable',
      `${server}, or a proxy in front of it, answers HTTP ${status}: try again later.`,
    )
  throw new ClientFailure(
    'failed',
    `${server} does not seem to offer this API (HTTP ${status}): is the address right?`,
  )
}

/**
 * Returns the answer if it has the expected status, else throws ClientFailure. `missing` is the message for a
 * 404.
 */
export function expectStatus(
  status: number,
  answer: ServerAnswer,
  missing: string | null = null,
): ServerAnswer {
  if (answer.status === 404 && missing !== null) throw new ClientFailure('failed', missing)
  if (answer.status < 300 && answer.status !== status)
    throw new ClientFailure(
      'failed',
      `The server answered HTTP ${answer.status} where this API answers ${status}: is its address right? Whether it did what was asked is unknown.`,
    )
  if (answer.status !== status) throw refusalOf(answer)
  return answer
}

/** Builds the failure for a response whose status the caller did not expect. */
export function refusalOf({ status, body }: Pick<ServerAnswer, 'status' | 'body'>): ClientFailure {
  const message = explain(messageIn(body) ?? `HTTP ${status}`, body)
  const fields = status === 422 ? fieldsIn(body) : []
  if (fields.length > 0) return new RefusedFields(message, Object.fromEntries(fields))
  return new ClientFailure(kindOf(status), message)
}

/** Reads the fields of a 422, which has a list of messages for each invalid field beside `error`. */
function fieldsIn(body: unknown): [string, string[]][] {
  return Object.entries(Object(body)).flatMap(([field, said]): [string, string[]][] =>
    isTexts(said) ? [[field, said.slice(0, 10).map(cut)]] : [],
  )
}

function isTexts(said: unknown): said is string[] {
  return Array.isArray(said) && said.every((one) => typeof one === 'string')
}

function explain(said: string, body: unknown): string {
  if (said === 'not-found') return 'There is no such push or request, or it no longer exists.'
  if (said === 'request-closed')
    return 'This request takes no more answers: it is used up, closed, or past its time.'
  if (said !== 'internal-error') return said
  const id = textIn(body, 'request_id')
  return `The server failed${id === null ? '' : ` (request ${id.slice(0, 64)})`}; see its log.`
}

/** Maps a status to a kind. 500 is `failed`, because a bug in the server does not go away by retrying. */
function kindOf(status: number): ClientFailureKind {
  if (status === 401 || status === 403) return 'refused'
  if (status === 404 || status === 410) return 'gone'
  return status === 429 || status > 500 ? 'unavailable' : 'failed'
}

export function messageIn(body: unknown): string | null {
  const error = textIn(body, 'error')
  return error === null ? null : cut(error)
}

/** Returns null for a member that is not text, or is empty. */
function textIn(body: unknown, member: string): string | null {
  const value: unknown = Object(body)[member]
  return typeof value === 'string' && value !== '' ? value : null
}

function cut(text: string): string {
  return text.length > MAX_REASON_CHARACTERS ? `${text.slice(0, MAX_REASON_CHARACTERS)}…` : text
}
