// The Model Context Protocol over standard input and output, one JSON-RPC message per line
// (https://modelcontextprotocol.io/specification). Written here to avoid the 98 packages of the official
// library.

import { version } from '../../../package.json'
import type { Shell } from '../shell.ts'

type ToolDescription = {
  name: string
  description: string
  inputSchema: object
}

export type Tools = {
  descriptions: readonly ToolDescription[]
  /** Returns null for an unknown tool. */
  call(name: string, given: unknown): Promise<{ text: string; isError: boolean } | null>
}

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
const MAX_LINE_BYTES = 1024 * 1024
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602

class RpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Answers requests until the input has ended and all of them are answered. */
export async function serveProtocol({ readInputBytes, printExactly }: Shell, tools: Tools): Promise<void> {
  const send = (message: object) => printExactly(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const pending = new Set<Promise<void>>()
  for await (const line of readLines(readInputBytes())) {
    const answering = answerLine(line, tools, send).finally(() => pending.delete(answering))
    pending.add(answering)
  }
  await Promise.all(pending)
}

/** Yields null in place of a line that is too long. */
async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string | null> {
  let held = Buffer.alloc(0)
  let isTooLong = false
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk])
    for (let end = held.indexOf(10); end !== -1; end = held.indexOf(10)) {
      yield isTooLong ? null : held.toString('utf8', 0, end)
      isTooLong = false
      held = held.subarray(end + 1)
    }
    isTooLong ||= held.length > MAX_LINE_BYTES
    if (isTooLong) held = Buffer.alloc(0)
  }
}

async function answerLine(line: string | null, tools: Tools, send: (message: object) => void): Promise<void> {
  if (line?.trim() === '') return
  let id: unknown = null
  try {
    const message = parse(line)
    const { method, params } = message
    id = message.id
    // Notifications and answers have no id or no method.
    if (id === undefined || (typeof method !== 'string' && ('result' in message || 'error' in message)))
      return
    if (!['string', 'number'].includes(typeof id) || typeof method !== 'string') {
      id = null
      throw new RpcError(INVALID_REQUEST, 'Invalid request')
    }
    send({ id, result: await answer(method, Object(params), tools) })
  } catch (cause) {
    const { code, message } = cause instanceof RpcError ? cause : { code: -32603, message: 'Internal error' }
    send({ id, error: { code, message } })
  }
}

function parse(line: string | null): Record<string, unknown> {
  try {
    const message = JSON.parse(line ?? '')
    if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message
  } catch {
    throw new RpcError(PARSE_ERROR, 'Parse error')
  }
  throw new RpcError(INVALID_REQUEST, 'Invalid request')
}

async function answer(method: string, params: Record<string, unknown>, tools: Tools): Promise<object> {
  if (method === 'ping') return {}
  if (method === 'tools/list') return { tools: tools.descriptions }
  if (method === 'initialize') {
    const protocolVersion = VERSIONS.find((known) => known === params.protocolVersion) ?? VERSIONS[0]
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'oncebox', version } }
  }
  if (method !== 'tools/call') throw new RpcError(METHOD_NOT_FOUND, 'Method not found')
  const called = await tools.call(String(params.name), params.arguments ?? {})
  if (called === null) throw new RpcError(INVALID_PARAMS, 'Unknown tool')
  return { content: [{ type: 'text', text: called.text }], isError: called.isError }
}
