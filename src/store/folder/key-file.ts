// The key file of a backup that was made without it.

import { readFileSync } from 'node:fs'
import { type Keyring, parseKeyFile } from '../../crypto/keyring.ts'
import { DomainError } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { KEY_FILE, requireOwn } from './ownership.ts'

/** Never makes one. Throws `conflict` when it cannot be read, or belongs to somebody else. */
export function readKeyFile(path: string): Keyring {
  requireOwn(path, KEY_FILE, { mayBeRoots: true })
  try {
    return parseKeyFile(readFileSync(path, 'utf8'))
  } catch (cause) {
    const why = reasonOf(cause)
    throw new DomainError('conflict', `Cannot use the key file ${path}: ${why}.`)
  }
}
