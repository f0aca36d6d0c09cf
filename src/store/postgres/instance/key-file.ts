// The key file of a node. One is made only for an empty database, because a new key opens nothing of another one.

import { existsSync } from 'node:fs'
import type { Keyring } from '../../../crypto/keyring.ts'
import { DomainError } from '../../../domain/errors.ts'
import { makeKeyFile, readKeyFile } from '../../folder/key-file.ts'
import type { Connect } from '../engine/connection.ts'
import { onOwnConnection } from '../engine/own-connection.ts'
import { SCHEMA } from '../engine/schema-name.ts'
import { readSchemaVersion } from '../schema/schema-version.ts'
import { describeKeys } from './instance-keys.ts'

export type NodeKeysOptions = {
  connect: Connect
  keyFile: string
  /** Whether the data folder never served a database. */
  isNewFolder: boolean
}

/** Throws `conflict` for a missing key file of a database that has keys, and for an empty database that was not. */
export function readNodeKeys({ connect, keyFile, isNewFolder }: NodeKeysOptions): Promise<Keyring> {
  return onOwnConnection(connect, async (session) => {
    const { version } = await readSchemaVersion(session)
    if (version === 0 && !isNewFolder) throw refuseEmpty()
    if (existsSync(keyFile)) return readKeyFile(keyFile)
    await session.unsafe(`SET search_path TO ${SCHEMA}`)
    const keys = version === 0 ? '' : await describeKeys({ query: (text) => session.unsafe(text) })
    if (keys === '') return makeKeyFile(keyFile)
    throw new DomainError(
      'conflict',
      `The key file ${keyFile} is missing, and the database was written with ${keys}. Copy the file from another node, or name ` +
        'it with --key-file. A new key would open nothing of it.',
    )
  })
}

/** For a database without tables, and a folder that served one. */
export function refuseEmpty(): DomainError {
  return new DomainError(
    'conflict',
    'The database of --database-url holds no Oncebox data, though this data folder served one. Restore the database, name the ' +
      'right one, or begin anew with another folder (--data-dir).',
  )
}
