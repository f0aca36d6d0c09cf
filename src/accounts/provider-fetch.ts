// Fetches only from the OpenID provider, with limits on size and time, and never through a redirect.

import { SECOND } from '../domain/time.ts'

const MAX_BYTES = 1024 * 1024
export const TIMEOUT_MS = 5 * SECOND

/**
 * Throws for a slow or too large answer. A redirect is an answer like any other. `ca`: certificates of the
 * provider's authority in PEM; null for the system's.
 */
export function createProviderFetch(ca: string | null) {
  return async (url: string, init: { headers?: HeadersInit }): Promise<Response> => {
    const headers = new Headers(init.headers)
    // A small compressed body could become a large one before its size is known.
    headers.set('accept-encoding', 'identity')
    const response = await fetch(url, {
      ...{ ...init, headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) },
      // Set explicitly, because the environment could turn the check off.
      tls: { rejectUnauthorized: true, ...(ca !== null && { ca }) },
      decompress: false,
    })
    const body = await readBounded(response)
    const { status, statusText, headers: answered } = response
    const isEmpty = status === 204 || status === 304
    return new Response(isEmpty ? null : body, { status, statusText, headers: answered })
  }
}

async function readBounded({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    // Leaving the loop by an exception cancels the body.
    if (size > MAX_BYTES) throw new Error(`the provider answers more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
