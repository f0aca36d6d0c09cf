// Fetches only from the OpenID provider, with limits on size and time, and never through a redirect.

import { readUpTo } from '../domain/bounded-read.ts'
import { SECOND } from '../domain/time.ts'

const MAX_BYTES = 1024 * 1024
const tooLarge = () => new Error(`the provider answers more than ${MAX_BYTES} bytes`)
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
    const body = await readUpTo(response.body ?? [], MAX_BYTES, tooLarge)
    const { status, statusText, headers: answered } = response
    const isEmpty = status === 204 || status === 304
    return new Response(isEmpty ? null : body, { status, statusText, headers: answered })
  }
}
