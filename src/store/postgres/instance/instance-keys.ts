// The keys that a database was written with. A node with another key file never serves it.

import { findKey, fingerprint, type Keyring } from '../../../crypto/keyring.ts'
import { DomainError } from '../../../domain/errors.ts'
import type { Session } from '../engine/database.ts'

export type KnownKey = { number: number; verifier: Buffer }

export type VerifyKeysOptions = {
  keyFile: string
  /** Whether other nodes serve the database at this time. */
  hasOthers: boolean
  onWarning: (warning: string) => void
}

/** Fingerprints of the keys, such as "key 1 (3f2a-91c0-…)"; an empty text for a new database. */
export async function describeKeys(session: Pick<Session, 'query'>): Promise<string> {
  const known = await readKeys(session)
  return known.map(({ number, verifier }) => `key ${number} (${fingerprint(verifier)})`).join(', ')
}

export function readKeys({ query }: Pick<Session, 'query'>): Promise<KnownKey[]> {
  return query<KnownKey>('SELECT number, verifier FROM instance_keys ORDER BY number')
}

/**
 * Within a transaction that holds the row of the instance: throws `conflict` unless the key file holds the keys that this
 * database was written with. Remembers new keys.
 */
export async function verifyKeys(
  session: Pick<Session, 'query'>,
  keyring: Keyring,
  options: VerifyKeysOptions,
): Promise<void> {
  const known = await readKeys(session)
  for (const { number, verifier } of known) {
    const key = findKey(keyring, number)
    if (key === null) await forgetKey(session, number, options)
    else if (!verifier.equals(key.verifier)) throw wrongKey({ number, verifier }, key.verifier, options)
  }
  const fresh = keyring.keys.filter((key) => !known.some(({ number }) => number === key.number))
  for (const { number, verifier } of fresh)
    await session.query('INSERT INTO instance_keys (number, verifier) VALUES ($1, $2)', [
      number,
      Buffer.from(verifier),
    ])
  if (known.length > 0 && options.hasOthers && fresh.includes(keyring.sealing))
    options.onWarning(
      `Key ${keyring.sealing.number} of the key file is new, and seals from now on: give the file to all nodes and restart ` +
        'them, because nodes without it cannot open what this one seals.',
    )
}

/** Throws `conflict` unless the key file holds all the keys that a database was written with: nodes would refuse it, too. */
export function requireKnownKeys(known: readonly KnownKey[], keyring: Keyring, keyFile: string): void {
  for (const { number, verifier } of known) {
    const key = findKey(keyring, number)
    if (key === null) throw missingKey(number, keyFile, 'its nodes')
    if (!verifier.equals(key.verifier)) throw wrongKey({ number, verifier }, key.verifier, { keyFile })
  }
}

/** A key may be removed from the files of all nodes when no push and no second factor uses it any more. */
async function forgetKey(
  { query }: Pick<Session, 'query'>,
  number: number,
  { hasOthers, keyFile }: VerifyKeysOptions,
): Promise<void> {
  const [found] = await query<{ isNamed: boolean }>(
    `SELECT EXISTS (SELECT FROM pushes WHERE key_number = $1)
       OR EXISTS (SELECT FROM accounts WHERE get_byte(totp_secret, 1) = $1) AS "isNamed"`,
    [number],
  )
  if (found?.isNamed || hasOthers)
    throw missingKey(number, keyFile, found?.isNamed ? 'pushes or second factors' : 'other nodes')
  await query('DELETE FROM instance_keys WHERE number = $1', [number])
}

function missingKey(number: number, keyFile: string, needing: string): DomainError {
  return new DomainError(
    'conflict',
    `Key ${number} is missing from the key file ${keyFile}, and ${needing} still need it. Put it back; all nodes need the same ` +
      'key file.',
  )
}

function wrongKey(
  { number, verifier }: KnownKey,
  found: Uint8Array,
  { keyFile }: Pick<VerifyKeysOptions, 'keyFile'>,
): DomainError {
  return new DomainError(
    'conflict',
    `The key file ${keyFile} does not belong to this database: its key ${number} has the fingerprint ${fingerprint(found)}, ` +
      `the database was written with ${fingerprint(verifier)}. Name the right file with --key-file; all nodes need the same one.`,
  )
}
