// Facts that a database stores about itself, the same in every engine: the keys under which it was written,
// when it was last in use, and whether it may be served after a copy.

import { findKey, fingerprint, type Keyring } from '../crypto/keyring.ts'
import type { ClockMark } from '../domain/clock.ts'
import { conflict } from '../domain/errors.ts'
import { printableLine } from '../text/printable.ts'
import { isKeyNeeded } from './pushes/rekeying.ts'
import { statement } from './statements.ts'
import { all, first, run, type Step } from './steps.ts'

/** A keyring, and the file that it is from. */
export type Keys = { keyring: Keyring; keyFile: string }

/** A key that sealed something in this database. */
export type KnownKey = { number: number; verifier: Uint8Array }

const KNOWN_KEYS = statement<KnownKey>('SELECT number, verifier FROM instance_keys ORDER BY number')
const REMEMBER_KEY = statement('INSERT INTO instance_keys (number, verifier) VALUES ($1, $2)')
const FORGET_KEY = statement('DELETE FROM instance_keys WHERE number = $1')

export function listKnownKeys(): Step<KnownKey[]> {
  return all(KNOWN_KEYS)
}

/**
 * Returns the keyring. Throws `conflict` unless it holds the keys that the database was written with. A key
 * may be missing once nothing needs it, unless other nodes serve the database.
 */
export function* requireKeys({ keyring, keyFile }: Keys, { hasOthers = false } = {}): Step<KnownKey[]> {
  const known = yield* listKnownKeys()
  for (const { number, verifier } of known) {
    const key = findKey(keyring, number)
    if (key !== null && !Buffer.from(verifier).equals(key.verifier))
      throw conflict(
        `The key file ${keyFile} does not belong to this database: its key ${number} has the fingerprint ` +
          `${fingerprint(key.verifier)}, the database was written with ${fingerprint(verifier)}. Name the right file with --key-file.`,
      )
    if (key === null && (hasOthers || (yield* isKeyNeeded(number))))
      throw conflict(
        `Key ${number} (${fingerprint(verifier)}) is missing from the key file ${keyFile}, which holds ${nameKeys(keyring.keys)}. ` +
          'Pushes, accounts or other nodes still need it: put it back.',
      )
  }
  return known
}

/** Names keys by number and fingerprint, for messages. */
export function nameKeys(keys: readonly KnownKey[]): string {
  return keys.map(({ number, verifier }) => `key ${number} (${fingerprint(verifier)})`).join(', ')
}

/**
 * Checks the keys like `requireKeys`, then stores a new first key and removes keys that nothing needs. All
 * other nodes must have the new key already.
 */
export function* enterKeys(keys: Keys, { hasOthers = false } = {}): Step<void> {
  const { keyring, keyFile } = keys
  const known = yield* requireKeys(keys, { hasOthers })
  for (const { number } of known) if (findKey(keyring, number) === null) yield* run(FORGET_KEY, number)
  const { number, verifier } = keyring.sealing
  if (known.some((key) => key.number === number)) return
  if (hasOthers)
    throw conflict(
      `The first key in ${keyFile} (key ${number}) is a new one, and other nodes serve the database without it. Stop all nodes, give ` +
        'each of them the same key file, and start them again.',
    )
  yield* run(REMEMBER_KEY, number, Buffer.from(verifier))
}

const CLOCK_MARK = statement<ClockMark>('SELECT clock_mark AS mark, clock_doubted AS doubted FROM instance')
const WRITE_MARK = statement('UPDATE instance SET clock_mark = $1, clock_doubted = $2')

/** Reads when the database was last in use. */
export function* readClockMark(): Step<ClockMark> {
  return (yield* first(CLOCK_MARK)) ?? { mark: 0, doubted: null }
}

/** Stores the last time of use. Only this function may move the mark back. */
export function writeClockMark({ mark, doubted }: ClockMark): Step<void> {
  return run(WRITE_MARK, mark, doubted)
}

/** Throws `conflict` if this database is the source of a copy. */
export function* refuseCopied(): Step<void> {
  const why = explainCopy(yield* readCopiedTo())
  if (why !== null) throw conflict(why)
}

const COPIED_TO = statement<{ name: string }>(
  "SELECT copy_other AS name FROM instance WHERE copy_state = 'left'",
)
const WRITE_COPIED_TO = statement("UPDATE instance SET copy_state = 'left', copy_other = $1")

/** Returns the target of a copy; null if this database was not copied. */
export function* readCopiedTo(): Step<string | null> {
  return (yield* first(COPIED_TO))?.name ?? null
}

export function writeCopiedTo(name: string): Step<void> {
  return run(WRITE_COPIED_TO, name)
}

/** Why the source of a copy may not be served, for the operator; null when it may. */
export function explainCopy(to: string | null): string | null {
  if (to === null) return null
  return (
    `Everything here was copied to ${printableLine(to)}: serve that one. If it is empty, because the copy was killed, run the same ` +
    '"oncebox copy" again.'
  )
}
