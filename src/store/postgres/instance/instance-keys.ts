// The keys that a database was written with. A node with another key file never serves it, and none seals under a key that others lack.

import { findKey, fingerprint, type InstanceKey, type Keyring } from '../../../crypto/keyring.ts'
import { DomainError } from '../../../domain/errors.ts'
import { isKeyNeeded } from '../../pushes/rekeying.ts'
import type { Session } from '../engine/database.ts'
import { drive } from '../engine/run-steps.ts'
import { serverText } from '../engine/server-text.ts'
import { type KeysOfNode, verifierOf } from './node-keys.ts'

/** `hasSealed`: a node has been started with it as its first key. */
export type KnownKey = { number: number; verifier: Buffer; hasSealed: boolean }

export type VerifyKeysOptions = {
  keyFile: string
  /** The keys of the other nodes that serve the database at this time. */
  others: readonly KeysOfNode[]
}

/** Fingerprints of the keys, such as "key 1 (3f2a-91c0-…)"; an empty text for a new database. */
export async function describeKeys(session: Pick<Session, 'query'>): Promise<string> {
  const known = await readKeys(session)
  return known.map(({ number, verifier }) => `key ${number} (${fingerprint(verifier)})`).join(', ')
}

export function readKeys({ query }: Pick<Session, 'query'>): Promise<KnownKey[]> {
  return query<KnownKey>(
    'SELECT number, verifier, is_unused IS NOT TRUE AS "hasSealed" FROM instance_keys ORDER BY number',
  )
}

/**
 * Within a transaction that holds the row of the instance: throws `conflict` unless the key file holds the keys that this
 * database was written with, and the other nodes have the key under which this one would seal. Remembers new keys.
 */
export async function verifyKeys(
  session: Pick<Session, 'query'>,
  keyring: Keyring,
  options: VerifyKeysOptions,
): Promise<void> {
  const known = await readKeys(session)
  for (const { number, verifier } of known) {
    const key = findKey(keyring, number)
    if (key === null) await forgetKey(session, number, { verifier, ...options })
    else if (!verifier.equals(key.verifier)) throw wrongKey({ number, verifier }, key.verifier, options)
  }
  const sealed = known.some(({ number, hasSealed }) => number === keyring.sealing.number && hasSealed)
  if (!sealed) requireAtOthers(keyring.sealing, options)
  for (const key of keyring.keys)
    await session.query(REMEMBER, [key.number, Buffer.from(key.verifier), key === keyring.sealing])
}

/** Throws `conflict` unless the key file holds all the keys that have sealed something in a database: nodes would refuse it, too. */
export function requireKnownKeys(known: readonly KnownKey[], keyring: Keyring, keyFile: string): void {
  for (const { number, verifier, hasSealed } of known) {
    const key = findKey(keyring, number)
    if (key === null && hasSealed) throw missingKey(number, keyFile, 'its nodes')
    if (key !== null && !verifier.equals(key.verifier))
      throw wrongKey({ number, verifier }, key.verifier, { keyFile })
  }
}

const REMEMBER = `INSERT INTO instance_keys AS known (number, verifier, is_unused) VALUES ($1, $2, NOT $3::boolean)
  ON CONFLICT (number) DO UPDATE SET is_unused = false WHERE known.is_unused AND NOT EXCLUDED.is_unused`

/** For a key that has not sealed yet. Recipients whose requests go to nodes without it would find no push that this node makes. */
function requireAtOthers(sealing: InstanceKey, { keyFile, others }: VerifyKeysOptions): void {
  const verifier = verifierOf(sealing)
  const lacking = others.filter(({ keys }) => !keys.includes(verifier))
  if (lacking.length === 0) return
  throw new DomainError(
    'conflict',
    `Key ${sealing.number} is the first in the key file ${keyFile}, so this node would seal under it, but ${namesOf(lacking)} cannot ` +
      'open what it seals. A new key comes in two steps. First put its line behind the others in the key files of all nodes, ' +
      'and restart them one after the other. When all have it, put it first in all files, and restart them again. (A node that died counts ' +
      'for a minute.)',
  )
}

const namesOf = (nodes: readonly KeysOfNode[]): string =>
  `the node${nodes.length === 1 ? '' : 's'} ${serverText(nodes.map(({ name }) => name).join(', '))}`

type Forgetting = VerifyKeysOptions & { verifier: Buffer }

/** A key may be removed from the files of all nodes when no row needs it any more. */
async function forgetKey(
  session: Pick<Session, 'query'>,
  number: number,
  { verifier, others, keyFile }: Forgetting,
): Promise<void> {
  const holders = others.filter(({ keys }) => keys.includes(verifier.toString('hex')))
  const isNeeded = await drive(isKeyNeeded(number), session)
  if (isNeeded || holders.length > 0)
    throw missingKey(number, keyFile, isNeeded ? 'pushes or accounts' : namesOf(holders))
  await session.query('DELETE FROM instance_keys WHERE number = $1', [number])
}

function missingKey(number: number, keyFile: string, needing: string): DomainError {
  return new DomainError(
    'conflict',
    `Key ${number} is missing from the key file ${keyFile}, which is still needed by ${needing}. Put it back; all nodes need the same ` +
      'key file.',
  )
}

function wrongKey(
  { number, verifier }: Pick<KnownKey, 'number' | 'verifier'>,
  found: Uint8Array,
  { keyFile }: Pick<VerifyKeysOptions, 'keyFile'>,
): DomainError {
  return new DomainError(
    'conflict',
    `The key file ${keyFile} does not belong to this database: its key ${number} has the fingerprint ${fingerprint(found)}, ` +
      `the database was written with ${fingerprint(verifier)}. Name the right file with --key-file; all nodes need the same one.`,
  )
}
