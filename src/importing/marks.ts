// Marks of imported rows: keyed hashes by which a repeated import recognises them, whichever instance key
// sealed them.

import type { Keyring } from '../crypto/keyring.ts'
import { lookupOf } from '../crypto/url-token.ts'

/**
 * Makes the marks. They never collide with the lookups of links, because no link's token contains a colon.
 */
export function createMarks({ sealing, keys }: Keyring) {
  const ofKind = (textOf: (name: string) => string) => ({
    all: (name: string) => keys.map(({ lookup }) => lookupOf(textOf(name), lookup)),
    one: (name: string) => lookupOf(textOf(name), sealing.lookup),
  })
  return {
    push: ofKind((urlToken) => urlToken),
    account: ofKind((email) => `account:${email}`),
    apiToken: ofKind((apiToken) => `api-token:${apiToken}`),
  }
}
