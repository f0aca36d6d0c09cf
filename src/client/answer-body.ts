// Reads response bodies up to a limit, and parses JSON only of a reasonable shape.

import { readUpTo } from '../domain/bounded-read.ts'
import { findExcess } from '../text/json-shape.ts'
import { ClientFailure, unreachable } from './failure.ts'
import type { Watch } from './watch.ts'

/** A list of fifty pushes has about a thousand members. */
const MOST = { depth: 64, members: 200_000 }

export type ReadLimits = { server: string; maxBytes: number; watch: Pick<Watch, 'count'> }

/** Throws ClientFailure as soon as the body exceeds `maxBytes`, without reading the rest. */
export async function readBody(
  response: Response,
  { server, maxBytes, watch }: ReadLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => new ClientFailure('failed', `${server} answered with more than ${maxBytes} bytes.`)
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel()
    throw tooLarge()
  }
  return readUpTo(readChunks(response, { server, watch }), maxBytes, tooLarge)
}

/** Throws errors of the network as ClientFailure. */
export async function* readChunks(
  response: Response,
  { server, watch }: Omit<ReadLimits, 'maxBytes'>,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response.body ?? []) {
      watch.count(chunk.byteLength)
      yield chunk
    }
  } catch (cause) {
    throw unreachable(server, cause)
  }
}

/**
 * Returns undefined for text that is not JSON, or is so deep or long that parsing would exhaust the client.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes)
  if (findExcess(text, MOST) !== null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
