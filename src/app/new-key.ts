// Makes the key file that all nodes of one database share.

import { fingerprint } from '../crypto/keyring.ts'
import { makeKeyFile } from '../store/folder/key-file.ts'

/** Returns the fingerprint, by which people tell keys apart. Throws `conflict` when something is there already. */
export function makeNewKey(path: string): string {
  return fingerprint(makeKeyFile(path).sealing.verifier)
}
