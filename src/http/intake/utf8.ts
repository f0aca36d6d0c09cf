// Decodes the bytes of a request that are to be UTF-8.

import { DomainError } from '../../domain/errors.ts'

/** Drops a byte order mark, which JSON does not know. */
export const WITHOUT_MARK = new TextDecoder('utf-8', { fatal: true })
const WITH_MARK = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Keeps a byte order mark, because payloads come back exactly. Throws `malformed` for other bytes, in place
 * of replacing them.
 */
export function decodeUtf8(bytes: Uint8Array, refusal: string, decoder = WITH_MARK): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new DomainError('malformed', refusal)
  }
}
