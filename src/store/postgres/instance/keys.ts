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

/** `hasSealed`: a node has been started with it as its first key. */
export type KnownKey = { number: number; verifier: Buffer; hasSealed: boolean }

export function readKeys({ query }: Session): Promise<KnownKey[]> {
  return query<KnownKey>(
    'SELECT number::int, verifier, NOT is_unused AS "hasSealed" FROM instance_keys ORDER BY number',
  )
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

export type NodeKeys = { keyring: Keyring; keyFile: string }

export type EnterKeysOptions = NodeKeys & {
  /** Whether other nodes serve the database. */
  hasOthers: boolean
}

/**
 * Within a transaction that holds the row of the instance: throws `conflict` unless the key file holds the keys that are needed.
 * Remembers new keys. A key may go once all nodes have stopped and nothing is sealed under it.
 */
export async function enterKeys(session: Changing, options: EnterKeysOptions): Promise<void> {
  const { keyring, keyFile, hasOthers } = options
  const { query } = session
  for (const known of await readKeys(session)) {
    requireSame(known, keyring, keyFile)
    const { number, hasSealed } = known
    if (findKey(keyring, number) !== null || (hasOthers && !hasSealed)) continue
    if (hasOthers || (await drive(isKeyNeeded(number), session))) throw missingKey(number, keyFile)
    await query('DELETE FROM instance_keys WHERE number = $1', [number])
  }
  for (const key of keyring.keys)
    await query(REMEMBER, [key.number, Buffer.from(key.verifier), key !== keyring.sealing])
}

const REMEMBER = `INSERT INTO instance_keys AS known (number, verifier, is_unused) VALUES ($1, $2, $3)
  ON CONFLICT (number) DO UPDATE SET is_unused = false WHERE known.is_unused AND NOT EXCLUDED.is_unused`

/** For commands: throws `conflict` unless the key file holds all the keys that have sealed something in a database. */
export function requireKnownKeys(known: readonly KnownKey[], keyring: Keyring, keyFile: string): void {
  for (const key of known) {
    requireSame(key, keyring, keyFile)
    if (key.hasSealed && findKey(keyring, key.number) === null) throw missingKey(key.number, keyFile)
  }
}

/** Why a node that serves may not go on: another one seals under a key that it lacks, or its own key was removed. Null when it may. */
export function findKeyLack(known: readonly KnownKey[], { keyring, keyFile }: NodeKeys): string | null {
  const lacked = known.find(({ number, hasSealed }) => hasSealed && findKey(keyring, number) === null)
  const isForgotten = !known.some(({ number }) => number === keyring.sealing.number)
  if (lacked === undefined && !isForgotten) return null
  return (
    `Other nodes serve this database with other instance keys (${lacked === undefined ? `without key ${keyring.sealing.number}` : `with key ${lacked.number}`}), ` +
    `so nothing is served here. Give this node the key file of the others (${keyFile}), and restart it.`
  )
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
