// The requests of the benchmark as bytes, and the checks of their responses.

import type { TokenList } from './token-list.ts'

const PAYLOAD = 'correct horse battery staple 012'
const VIEWS_ALLOWED = 100
const BODY = JSON.stringify({ push: { payload: PAYLOAD, expire_after_views: VIEWS_ALLOWED } })

/** The most views used of one push, so far below its limit that no push expires. */
export const VIEWS_USED = 90

function headOf(port: number, requestLine: string, headers: readonly string[]): string {
  const common = [`Host: 127.0.0.1:${port}`, 'User-Agent: oncebox-bench', 'Accept: application/json']
  return `${[requestLine, ...common, ...headers].join('\r\n')}\r\n\r\n`
}

export function getRequest(port: number, from: { path: string; apiToken?: string }): Buffer {
  const headers = from.apiToken === undefined ? [] : [`Authorization: Bearer ${from.apiToken}`]
  return Buffer.from(headOf(port, `GET ${from.path} HTTP/1.1`, headers))
}

/** Creates a push with a payload of 32 characters, for an account if there is a token, else anonymous. */
export function createRequest(port: number, apiToken?: string): Buffer {
  const headers = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(BODY)}`]
  if (apiToken !== undefined) headers.push(`Authorization: Bearer ${apiToken}`)
  return Buffer.from(headOf(port, 'POST /api/v2/pushes HTTP/1.1', headers) + BODY)
}

/**
 * Retrieves of the pushes that `pick` names by their place in the list. Each connection has bytes of its own, into
 * which the link's token is written anew each time.
 */
export function retrieveRequests(from: {
  port: number
  connections: number
  tokens: TokenList
  pick: () => number
}): (connection: number) => Buffer {
  const { port, tokens, pick } = from
  const before = 'GET /api/v2/pushes/'
  const request = headOf(port, `${before}${'-'.repeat(tokens.width())} HTTP/1.1`, [])
  const requests = Array.from({ length: from.connections }, () => Buffer.from(request))
  return (connection) => {
    const bytes = requests[connection] as Buffer
    tokens.copy(pick(), bytes, before.length)
    return bytes
  }
}

/** Whether the response has a payload and the push is still live. */
export function isPayload(body: Buffer): boolean {
  const push = JSON.parse(body.toString()) as { payload?: unknown; expired?: unknown }
  return push.payload === PAYLOAD && push.expired === false
}

/** The number of pushes on a page of a list; 0 if it is not a list. */
export function pageLength(body: Buffer): number {
  const page: unknown = JSON.parse(body.toString())
  return Array.isArray(page) ? page.length : 0
}
