// One request to a server of this API: patience with a busy one, and plain words for what went wrong.

import { parseJsonBody, type ReadLimits, readBody } from './answer-body.ts'
import type { Dial } from './dial.ts'
import { ClientFailure, type FailureKind, RefusedFields } from './failure.ts'
import { createWatch, type Watch } from './watch.ts'

export type Call = {
  method?: 'GET' | 'POST' | 'DELETE'
  headers?: Record<string, string>
  /** Made anew for each try; counts what it hands over. */
  body?: (count: Watch['count']) => BodyInit
  /** Whether the body is gone once it was sent, so that there is one try. */
  isSentOnce?: boolean
  /** The largest answer that makes sense, in bytes. */
  maxBytes?: number
  /** Whether it may take as long as it goes on. */
  isLong?: boolean
}

export type RequestsOptions = {
  /** What paths are appended to. */
  server: string
  apiToken: string | null
  dial: Dial
  /** How long nothing may happen. */
  patienceMs: number
  /** Told before the server is given time, as it asked. */
  onWait: (seconds: number) => void
}

/** The status and the body as JSON; failures that no caller handles are thrown as ClientFailure. */
export type Answer = { status: number; headers: Headers; body: unknown }

export type Ask = (path: string, call?: Call) => Promise<Answer>

const MAX_TRIES = 4
const LONGEST_WAIT_SECONDS = 60
const MAX_BYTES = 1024 * 1024
/** Times the patience, for a whole request and its answer. */
const LONGEST_ANSWER = 10
const MAX_REASON_CHARACTERS = 500

export function createAsk(options: RequestsOptions): Ask {
  return async (path, call = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt === MAX_TRIES || call.isSentOnce === true
      const answer = await tryOnce(path, { call, isLast, options })
      if (!('wait' in answer)) return answer
      options.onWait(answer.wait)
      await Bun.sleep(answer.wait * 1000)
    }
  }
}

type Try = { call: Call; isLast: boolean; options: RequestsOptions }

async function tryOnce(path: string, { call, isLast, options }: Try): Promise<Answer | { wait: number }> {
  const { server, patienceMs } = options
  const watch = createWatch(call.isLong ? 2 * patienceMs : patienceMs)
  try {
    const response = await send(path, { call, watch, options })
    const wait = isLast ? null : secondsToWait(response)
    if (wait === null) return await read(response, { server, maxBytes: call.maxBytes ?? MAX_BYTES, watch })
    // What is not read keeps the connection.
    await response.body?.cancel()
    return { wait }
  } finally {
    watch.stop()
  }
}

type Sending = { call: Call; watch: Watch; options: RequestsOptions }

function send(path: string, { call, watch, options }: Sending): Promise<Response> {
  const { server, apiToken, dial, patienceMs } = options
  const { method = 'GET', headers, body, isLong } = call
  const end = isLong ? [] : [AbortSignal.timeout(LONGEST_ANSWER * patienceMs)]
  return dial(`${server}${path}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(apiToken === null ? {} : { authorization: `Bearer ${apiToken}` }),
      ...headers,
    },
    signal: AbortSignal.any([watch.signal, ...end]),
    ...(body === undefined ? {} : { body: body(watch.count) }),
  })
}

/** Null when there is nothing to wait for. Both answers promise that nothing was stored or counted. */
function secondsToWait({ status, headers }: Response): number | null {
  if (status !== 429 && status !== 503) return null
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return seconds >= 0 && seconds <= LONGEST_WAIT_SECONDS ? Math.max(1, seconds) : null
}

async function read(response: Response, limits: ReadLimits): Promise<Answer> {
  const { status, headers } = response
  const { server } = limits
  if (status >= 300 && status < 400) {
    await response.body?.cancel()
    const target = headers.get('location') ?? 'another address'
    throw new ClientFailure('failed', `${server} sends to ${cut(target)}: log in to that server instead.`)
  }
  const body = parseJsonBody(await readBody(response, limits))
  if (body !== undefined) return { status, headers, body }
  throw new ClientFailure(
    status >= 500 ? 'unavailable' : 'failed',
    `${server} does not answer as a server of this API does (HTTP ${status}): is the address right?`,
  )
}

/** What the server said, for every status that its caller does not expect. */
export function refusalOf({ status, body }: Pick<Answer, 'status' | 'body'>): ClientFailure {
  const message = explain(messageIn(body) ?? `HTTP ${status}`, body)
  const fields = status === 422 ? fieldsIn(body) : {}
  if (Object.keys(fields).length > 0) return new RefusedFields(message, fields)
  return new ClientFailure(kindOf(status), message)
}

/** Beside `error`, a refusal of values has a list of messages for each field. */
function fieldsIn(body: unknown): Record<string, string[]> {
  if (typeof body !== 'object' || body === null) return {}
  const lists = Object.entries(body).filter(
    (entry): entry is [string, string[]] =>
      Array.isArray(entry[1]) && entry[1].every((said) => typeof said === 'string'),
  )
  return Object.fromEntries(lists.map(([field, said]) => [field, said.slice(0, 10).map(cut)]))
}

function explain(said: string, body: unknown): string {
  if (said === 'not-found') return 'There is no such push, or not any more.'
  if (said !== 'internal-error') return said
  const given = typeof body === 'object' && body !== null && 'request_id' in body ? body.request_id : ''
  const id = typeof given === 'string' && given !== '' ? ` (request ${given.slice(0, 64)})` : ''
  return `Something went wrong at the server${id}; its log tells more.`
}

/** Of the failures of a server, a fault of its own does not go away by trying again. */
function kindOf(status: number): FailureKind {
  if (status === 401 || status === 403) return 'refused'
  if (status === 404) return 'gone'
  return status === 429 || status > 500 ? 'unavailable' : 'failed'
}

export function messageIn(body: unknown): string | null {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null
  return typeof error === 'string' && error !== '' ? cut(error) : null
}

function cut(text: string): string {
  return text.length > MAX_REASON_CHARACTERS ? `${text.slice(0, MAX_REASON_CHARACTERS)}…` : text
}
