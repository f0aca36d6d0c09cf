// The key file of a node: all nodes of one database have the same.

import { existsSync } from 'node:fs'
import type { Keyring } from '../../../crypto/keyring.ts'
import { conflict } from '../../../domain/errors.ts'
import { listKnownKeys, nameKeys } from '../../every-engine/instance.ts'
import { makeKeyFile, readKeyFile } from '../../folder/key-file.ts'
import { drive } from '../engine/run-steps.ts'
import { type Connect, onOwnConnection, sessionOver } from '../engine/session.ts'
import { readSchemaVersion } from '../schema/migrate.ts'

export type NodeKeysOptions = {
  connect: Connect
  keyFile: string
  /** Whether the data folder never served a database. */
  isNewFolder: boolean
}

/**
 * Reads the key file. Makes one only for an empty database, because a new key opens nothing of another one. Throws `conflict` for
 * a missing file of a database that has keys, and for an empty database that was not.
 */
export function readNodeKeys({ connect, keyFile, isNewFolder }: NodeKeysOptions): Promise<Keyring> {
  return onOwnConnection(connect, async (session) => {
    const { version } = await readSchemaVersion(session)
    if (version === 0 && !isNewFolder) throw conflict(EMPTIED)
    if (existsSync(keyFile)) return readKeyFile(keyFile)
    const known = version === 0 ? [] : await drive(listKnownKeys(), sessionOver(session))
    if (known.length === 0) return makeKeyFile(keyFile)
    throw conflict(
      `The key file ${keyFile} is missing, and the database was written with ${nameKeys(known)}. Copy the file from another node, or name ` +
        'it with --key-file. A new key would open nothing of it.',
    )
  })
}

const EMPTIED =
  'The database of --database-url holds no Oncebox data, though this data folder served one. Restore the database, name the ' +
  'right one, or begin anew with another folder (--data-dir).'
