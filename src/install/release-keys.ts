// The public keys of releases that this build embeds: "oncebox upgrade" accepts files that one of them has
// signed.

import embedded from '../../release-keys.txt' with { type: 'text' }
import { type PublicKey, parsePublicKeys } from '../crypto/minisign.ts'

export function readReleaseKeys(): readonly PublicKey[] {
  return parsePublicKeys(embedded) ?? []
}

/** Returns the warning of `config` and `doctor` about a build without keys; null if it has some. */
export function findKeysProblem(keys = readReleaseKeys()): string | null {
  return keys.length > 0 ? null : 'This build has no release keys: "oncebox upgrade" needs --public-key.'
}
