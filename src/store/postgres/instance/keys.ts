// The keys that a database was written with. A node with another key file does not serve it.

import { existsSync } from 'node:fs'
import { findKey, fingerprint, type Keyring } from '../../../crypto/keyring.ts'
import { DomainError } from '../../../domain/errors.ts'
import { makeKeyFile, readKeyFile } from '../../folder/key-file.ts'
import { isKeyNeeded } from '../../pushes/rekeying.ts'
import type { Changing } from '../engine/database.ts'
import type { Session } from '../engine/lanes.ts'
import { drive } from '../engine/run-steps.ts'
import { type Connect, onOwnConnection } from '../engine/session.ts'
import { readSchemaVersion } from '../schema/migrate.ts'

/** A key under which something was sealed. */
export type KnownKey = { number: number; verifier: Buffer }

export function readKeys({ query }: Session): Promise<KnownKey[]> {
  return query<KnownKey>('SELECT number::int, verifier FROM instance_keys ORDER BY number')
}

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
    if (version === 0 && !isNewFolder) throw new DomainError('conflict', EMPTIED)
    if (existsSync(keyFile)) return readKeyFile(keyFile)
    const known = version === 0 ? [] : await readKeys({ query: (text) => session.unsafe(text) })
    if (known.length === 0) return makeKeyFile(keyFile)
    const keys = known.map(({ number, verifier }) => `key ${number} (${fingerprint(verifier)})`).join(', ')
    throw new DomainError(
      'conflict',
      `The key file ${keyFile} is missing, and the database was written with ${keys}. Copy the file from another node, or name ` +
        'it with --key-file. A new key would open nothing of it.',
    )
  })
}

const EMPTIED =
  'The database of --database-url holds no Oncebox data, though this data folder served one. Restore the database, name the ' +
  'right one, or begin anew with another folder (--data-dir).'

export type EnterKeysOptions = {
  keyring: Keyring
  keyFile: string
  /** Whether other nodes serve the database. */
  hasOthers: boolean
}

/**
 * Within a transaction that holds the row of the instance: throws `conflict` unless the key file holds the keys that are needed.
 * A key comes, and goes once nothing is sealed under it, while no other node serves the database.
 */
export async function enterKeys(session: Changing, options: EnterKeysOptions): Promise<void> {
  const { keyring, keyFile, hasOthers } = options
  const { query } = session
  const known = await readKeys(session)
  for (const key of known) {
    requireSame(key, keyring, keyFile)
    const { number } = key
    if (findKey(keyring, number) !== null) continue
    if (hasOthers || (await drive(isKeyNeeded(number), session))) throw missingKey(number, keyFile)
    await query('DELETE FROM instance_keys WHERE number = $1', [number])
  }
  const { number, verifier } = keyring.sealing
  if (known.some((key) => key.number === number)) return
  if (hasOthers)
    throw new DomainError(
      'conflict',
      `The first key in ${keyFile} (key ${number}) is a new one, and other nodes serve the database without it. Stop all nodes, give ` +
        'each of them the same key file, and start them again.',
    )
  await query('INSERT INTO instance_keys (number, verifier) VALUES ($1, $2)', [number, Buffer.from(verifier)])
}

/** For commands: throws `conflict` unless the key file holds all the keys of a database. */
export function requireKnownKeys(known: readonly KnownKey[], keyring: Keyring, keyFile: string): void {
  for (const key of known) {
    requireSame(key, keyring, keyFile)
    if (findKey(keyring, key.number) === null) throw missingKey(key.number, keyFile)
  }
}

function missingKey(number: number, keyFile: string): DomainError {
  return new DomainError(
    'conflict',
    `Key ${number} is missing from the key file ${keyFile}. It is still needed by pushes, accounts or other nodes. Put it ` +
      'back; all nodes need the same key file.',
  )
}

function requireSame({ number, verifier }: KnownKey, keyring: Keyring, keyFile: string): void {
  const key = findKey(keyring, number)
  if (key === null || verifier.equals(key.verifier)) return
  throw new DomainError(
    'conflict',
    `The key file ${keyFile} does not belong to this database: its key ${number} has the fingerprint ${fingerprint(key.verifier)}, ` +
      `the database was written with ${fingerprint(verifier)}. Name the right file with --key-file; all nodes need the same one.`,
  )
}
