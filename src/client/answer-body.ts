// Reads response bodies up to a limit, and parses JSON only of a reasonable shape.

import { ClientFailure } from './failure.ts'
import { unreachable } from './unreachable.ts'
import type { Watch } from './watch.ts'

const MAX_DEPTH = 64
/** The most brackets and commas. A list of fifty pushes has about a thousand. */
const MAX_MARKS = 200_000

export type ReadLimits = { server: string; maxBytes: number; watch: Pick<Watch, 'count'> }

/** Throws ClientFailure as soon as the body exceeds `maxBytes`, without reading the rest. */
export async function readBody(
  response: Response,
  { server, maxBytes, watch }: ReadLimits,
): Promise<Uint8Array> {
  const tooLarge = () => new ClientFailure('failed', `${server} answered with more than ${maxBytes} bytes.`)
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel()
    throw tooLarge()
  }
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength
      watch.count(chunk.byteLength)
      if (size > maxBytes) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (cause) {
    throw unreachable(server, cause)
  }
  return Buffer.concat(chunks)
}

/** Undefined when it is not JSON, or so deep or long that parsing would take seconds and gigabytes. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (!isReasonable(bytes)) return undefined
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

function isReasonable(bytes: Uint8Array): boolean {
  let depth = 0
  let marks = 0
  let isText = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) isText = !isText
    else if (isText) at += byte === BACKSLASH ? 1 : 0
    else if (OPENING.has(byte)) depth += 1
    else if (CLOSING.has(byte)) depth -= 1
    else if (byte !== COMMA) continue
    marks += isText ? 0 : 1
    if (depth > MAX_DEPTH || marks > MAX_MARKS) return false
  }
  return true
}
