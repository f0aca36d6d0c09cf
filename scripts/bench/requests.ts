// The requests of the benchmark as bytes, the checks of their answers, and the links that they use.

import type { Requests } from './load.ts'
import type { Running } from './servers.ts'

export const PUSH = { payload: 'correct horse battery staple 012', expire_after_views: 100 }
const BODY = JSON.stringify({ push: PUSH })
/** So many pushes that none gets its last view in a run of the default length. */
const RETRIEVED = 20_000
const TOKEN_BYTES = 26
const MEMBER = Buffer.from('"url_token":"')

/**
 * The link tokens of created pushes in one buffer, because a million strings would slow the load generator.
 */
export interface Tokens {
  count(): number
  add(token: string): void
  /** Adds the token of a create's response. Returns false when it has none. */
  addFrom(answer: Buffer): boolean
  at(place: number): string
  copy(place: number, target: Buffer, at: number): void
}

export function createTokens(): Tokens {
  let packed: Buffer = Buffer.alloc(65_536 * TOKEN_BYTES)
  let count = 0

  function add(token: string): void {
    if ((count + 1) * TOKEN_BYTES > packed.length)
      packed = Buffer.concat([packed, Buffer.alloc(packed.length)])
    packed.write(token, count * TOKEN_BYTES, 'latin1')
    count += 1
  }

  function addFrom(answer: Buffer): boolean {
    const start = answer.indexOf(MEMBER) + MEMBER.length
    if (start < MEMBER.length) return false
    add(answer.toString('latin1', start, start + TOKEN_BYTES))
    return true
  }

  return {
    count: () => count,
    add,
    addFrom,
    at: (place) => packed.toString('latin1', place * TOKEN_BYTES, (place + 1) * TOKEN_BYTES),
    copy: (place, target, at) => void packed.copy(target, at, place * TOKEN_BYTES, (place + 1) * TOKEN_BYTES),
  }
}

export function gets(
  server: Running,
  path: string,
  accept: (body: Buffer) => boolean = () => true,
): Requests {
  const request = Buffer.from(headOf(server, `GET ${path} HTTP/1.1`))
  return { server, next: () => request, accept }
}

/** Generates anonymous creates of pushes of 32 characters. */
export function creates(server: Running, tokens: Tokens): Requests {
  const headers = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(BODY)}`]
  const request = Buffer.from(headOf(server, 'POST /api/v2/pushes HTTP/1.1', headers) + BODY)
  return { server, next: () => request, accept: tokens.addFrom }
}

/** Generates retrieves of the pushes in turn. */
export function retrieves(server: Running, tokens: Tokens): Requests {
  let turn = 0
  return retrievesBy(server, { tokens, pick: () => turn++ % Math.min(RETRIEVED, tokens.count()) })
}

/** Generates retrieves of random pushes. */
export function randomRetrieves(server: Running, tokens: Tokens): Requests {
  return retrievesBy(server, { tokens, pick: () => Math.floor(Math.random() * tokens.count()) })
}

function retrievesBy(server: Running, from: { tokens: Tokens; pick: () => number }): Requests {
  const before = 'GET /api/v2/pushes/'
  const head = Buffer.from(headOf(server, `${before}${'-'.repeat(TOKEN_BYTES)} HTTP/1.1`))
  function next(): Buffer {
    const request = Buffer.from(head)
    from.tokens.copy(from.pick(), request, before.length)
    return request
  }
  return { server, next, accept: isLivePush }
}

function headOf({ port }: Running, requestLine: string, headers: readonly string[] = []): string {
  const common = [`Host: 127.0.0.1:${port}`, 'User-Agent: oncebox-bench', 'Accept: application/json']
  return `${[requestLine, ...common, ...headers].join('\r\n')}\r\n\r\n`
}

function isLivePush(body: Buffer): boolean {
  const push = JSON.parse(body.toString()) as { payload?: unknown; expired?: unknown }
  return push.payload === PUSH.payload && push.expired === false
}
