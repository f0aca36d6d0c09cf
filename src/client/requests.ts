// One request to a server of this API: patience with a busy one, and plain words for what went wrong.

import { ClientFailure, type FailureKind } from './failure.ts'

export type Call = {
  method?: 'GET' | 'POST' | 'DELETE'
  headers?: Record<string, string>
  /** Made anew for each try. */
  body?: () => BodyInit
  /** For an answer that comes at once; a long upload has none. */
  timeoutMs?: number
  signal?: AbortSignal
}

export type RequestsOptions = {
  /** What paths are appended to. */
  server: string
  apiToken: string | null
  userAgent: string
  /** Told before the server is given time, as it asked. */
  onWait: (seconds: number) => void
}

/** The status and the body as JSON; failures that no caller handles are thrown as ClientFailure. */
export type Answer = { status: number; headers: Headers; body: unknown }

export type Ask = (path: string, call?: Call) => Promise<Answer>

const MAX_TRIES = 4
const LONGEST_WAIT_SECONDS = 60
const TIMEOUT_MS = 60_000

export function createAsk(options: RequestsOptions): Ask {
  return async (path, call = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      const response = await send(path, call, options)
      const wait = attempt < MAX_TRIES ? secondsToWait(response) : null
      if (wait === null) return read(response, options.server)
      // What is not read keeps the connection.
      await response.body?.cancel()
      options.onWait(wait)
      await Bun.sleep(wait * 1000)
    }
  }
}

async function send(path: string, call: Call, options: RequestsOptions): Promise<Response> {
  const { server, apiToken, userAgent } = options
  const { method = 'GET', headers, body, timeoutMs = TIMEOUT_MS, signal } = call
  const deadline = timeoutMs === Number.POSITIVE_INFINITY ? [] : [AbortSignal.timeout(timeoutMs)]
  const request: RequestInit = {
    method,
    headers: {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(apiToken === null ? {} : { authorization: `Bearer ${apiToken}` }),
      ...headers,
    },
    // A token must not follow to wherever a server points.
    redirect: 'manual',
    signal: AbortSignal.any([...deadline, ...(signal === undefined ? [] : [signal])]),
    ...(body === undefined ? {} : { body: body() }),
  }
  return fetch(`${server}${path}`, request).catch((cause) => {
    throw unreachable(server, cause)
  })
}

/** Null: do not wait. Both answers promise that nothing was stored or counted. */
function secondsToWait({ status, headers }: Response): number | null {
  if (status !== 429 && status !== 503) return null
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return seconds >= 0 && seconds <= LONGEST_WAIT_SECONDS ? Math.max(1, seconds) : null
}

async function read(response: Response, server: string): Promise<Answer> {
  const { status, headers } = response
  if (status >= 300 && status < 400) {
    const target = headers.get('location') ?? 'another address'
    throw new ClientFailure('failed', `${server} sends to ${target}: log in to that server instead.`)
  }
  const text = await response.text().catch((cause) => {
    throw unreachable(server, cause)
  })
  try {
    return { status, headers, body: JSON.parse(text) }
  } catch {
    throw new ClientFailure(
      status >= 500 ? 'unavailable' : 'failed',
      `${server} does not answer as a server of this API does (HTTP ${status}): is the address right?`,
    )
  }
}

/** What the server said, for every status that its caller does not expect. */
export function refusalOf({ status, body }: Pick<Answer, 'status' | 'body'>): ClientFailure {
  return new ClientFailure(kindOf(status), explain(messageIn(body) ?? `HTTP ${status}`, body))
}

function explain(said: string, body: unknown): string {
  if (said === 'not-found') return 'There is no such push, or not any more.'
  if (said !== 'internal-error') return said
  const id =
    typeof body === 'object' && body !== null && 'request_id' in body ? ` (request ${body.request_id})` : ''
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
  return typeof error === 'string' && error !== '' ? error : null
}

export function unreachable(server: string, cause: unknown): ClientFailure {
  if (cause instanceof ClientFailure) return cause
  return new ClientFailure('unavailable', `Cannot reach ${server}: ${whyOf(cause)}.`)
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ConnectionRefused: 'nothing listens there',
  ENOTFOUND: 'there is no such name',
  FailedToOpenSocket: 'there is no such name, or no way to it',
  ECONNRESET: 'the connection broke off',
  ConnectionClosed: 'the connection broke off',
  TimeoutError: 'it took too long to answer',
  AbortError: 'it took too long to answer',
}

function whyOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause ? String(cause.code) : ''
  return (
    REASONS[code] ??
    REASONS[cause.name] ??
    `${cause.message.replace(/\.$/, '')}${code === '' ? '' : ` (${code})`}`
  )
}
