// Marks of imported rows: keyed hashes, by which a repeated import recognises them under every instance key.

import type { InstanceKey, Keyring } from '../crypto/keyring.ts'
import { lookupOf } from '../crypto/url-token.ts'

/**
 * Makes the marks. They never collide with the lookups of links, because no link's token contains a colon.
 */
export function createMarks({ sealing, keys }: Keyring) {
  const all = (text: string) => keys.map((key: InstanceKey) => lookupOf(text, key.lookup))
  const one = (text: string) => lookupOf(text, sealing.lookup)
  const ofKind = (textOf: (name: string) => string) => ({
    all: (name: string) => all(textOf(name)),
    one: (name: string) => one(textOf(name)),
  })
  return {
    push: ofKind((urlToken) => urlToken),
    account: ofKind((email) => `account:${email}`),
    apiToken: ofKind((apiToken) => `api-token:${apiToken}`),
  }
}
