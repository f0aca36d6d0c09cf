// Decodes UTF-8 in requests strictly.

import { DomainError } from '../../domain/errors.ts'

/** Drops a byte order mark, which JSON does not allow. */
export const WITHOUT_MARK = new TextDecoder('utf-8', { fatal: true })
const WITH_MARK = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Keeps a byte order mark, because payloads must be returned unchanged. Throws `malformed` for invalid UTF-8
 * instead of replacing it.
 */
export function decodeUtf8(bytes: Uint8Array, refusal: string, decoder = WITH_MARK): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new DomainError('malformed', refusal)
  }
}
