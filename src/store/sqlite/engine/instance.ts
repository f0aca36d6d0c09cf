// Facts about the instance in its database: the keys that it was written with, and the time at which it was last in use.

import type { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { findKey, fingerprint, type Keyring } from '../../../crypto/keyring.ts'
import type { Clock, ClockMark } from '../../../domain/clock.ts'
import { DomainError } from '../../../domain/errors.ts'
import { DAY, formatTime, MINUTE } from '../../../domain/time.ts'
import { explainCopy } from '../../copy/state.ts'
import { isKeyNeeded } from '../../pushes/rekeying.ts'
import type { Connection } from './database.ts'
import { createSteps } from './run-steps.ts'
import { instance, instanceKeys } from './schema.ts'

/** Checking takes about five milliseconds for each MiB. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024

/** Throws when the database is damaged in its structure. A large one is not checked: starting must not take minutes. */
export function requireIntact({ database }: Connection, most = MAX_CHECKED_BYTES): void {
  const pages = database.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0
  const pageBytes = database.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 0
  if (isCutOff(database.filename, pageBytes)) throw damaged(database, 'it ends within a page')
  if (pages * pageBytes > most) return
  const found = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()
  if (found === null || found.integrity_check === 'ok') return
  throw damaged(database, found.integrity_check.replaceAll('\n', ' '))
}

/** SQLite reads the missing end of a page as zeros. While its write-ahead log holds pages, the file may be unfinished. */
function isCutOff(path: string, pageBytes: number): boolean {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return sizeOf(`${path}-wal`) === 0 && sizeOf(path) % Math.max(1, pageBytes) !== 0
}

function damaged({ filename }: Database, damage: string): DomainError {
  const remedy = 'Restore it from a backup; nothing of it was changed.'
  return new DomainError('conflict', `The database ${filename} is damaged (${damage}). ${remedy}`)
}

type KnownKey = { number: number; verifier: Uint8Array }
type Rows = Pick<Connection, 'orm' | 'database'>

/** Throws `conflict` at an end of a copy that may not be served. */
export function refuseCopied({ orm }: Pick<Connection, 'orm'>): void {
  const found = orm.select({ state: instance.copyState, other: instance.copyOther }).from(instance).get()
  const why = found === undefined ? null : explainCopy(found)
  if (why !== null) throw new DomainError('conflict', why)
}

/** Throws unless the key file holds the keys this database was written with. Remembers new keys, forgets removed ones. */
export function verifyKeys(connection: Rows, keyring: Keyring): void {
  const { orm } = connection
  const known = requireKeys(connection, keyring)
  for (const { number } of known)
    if (findKey(keyring, number) === null)
      orm.delete(instanceKeys).where(eq(instanceKeys.number, number)).run()
  const fresh = keyring.keys.filter((key) => !known.some(({ number }) => number === key.number))
  for (const { number, verifier } of fresh) {
    orm
      .insert(instanceKeys)
      .values({ number, verifier: Buffer.from(verifier) })
      .run()
  }
}

/** Throws unless the key file holds the keys this database was written with, which it returns. Changes nothing. */
export function requireKeys(connection: Rows, keyring: Keyring) {
  const known = connection.orm.select().from(instanceKeys).all()
  for (const { number, verifier } of known) {
    const key = findKey(keyring, number)
    if (key === null) requireUnneeded(connection, { number, verifier }, keyring)
    else if (!Buffer.from(verifier).equals(key.verifier)) throw wrongKey(number, verifier, key.verifier)
  }
  return known
}

const nameOf = ({ number, verifier }: KnownKey) => `key ${number} (${fingerprint(verifier)})`

/** A key may be removed from the file when no row needs it any more. */
function requireUnneeded({ database }: Rows, { number, verifier }: KnownKey, { keys }: Keyring): void {
  const { within } = createSteps(
    database,
    () => Promise.reject(),
    () => undefined,
  )
  if (!within(isKeyNeeded(number))) return
  throw new DomainError(
    'conflict',
    `Key ${number} (${fingerprint(verifier)}) is missing from the key file, which holds ${keys.map(nameOf).join(', ')}. Pushes or accounts ` +
      'still need it: put it back.',
  )
}

function wrongKey(number: number, expected: Uint8Array, found: Uint8Array): DomainError {
  const message =
    `The key file does not belong to this database: its key ${number} has the fingerprint ${fingerprint(found)}, ` +
    `the database was written with ${fingerprint(expected)}. Name the right file with --key-file.`
  return new DomainError('conflict', message)
}

/** The time at which the folder was last in use. Throws when the system's clock is more than a day behind it. */
export function readClockMark(
  { orm }: Connection,
  { now, accept }: { now: number; accept: boolean },
): ClockMark {
  const nothing = { clockMark: 0, clockDoubted: null }
  const { clockMark: mark, clockDoubted: doubted } = orm.select().from(instance).get() ?? nothing
  if (accept) return { mark: Math.min(mark, now), doubted: null }
  if (mark - now <= DAY) return { mark, doubted }
  const message =
    `The clock of this machine says ${formatTime(now)}, but this data folder was in use at ${formatTime(mark)}. ` +
    'Set the clock right, or accept its time with --accept-clock.'
  throw new DomainError('conflict', message)
}

/** Stores this time, which is trusted, as the last time of use. */
export function writeClockMark({ orm }: Pick<Connection, 'orm'>, mark: number): void {
  orm.update(instance).set({ clockMark: mark, clockDoubted: null }).run()
}

/** `mark` runs within every transaction and stores the time at most once a minute. `undo` runs when it was rolled back. */
export function createClockMarker({ database }: Connection, clock: Clock): { mark(): void; undo(): void } {
  const write = database.prepare('UPDATE instance SET clock_mark = ?, clock_doubted = ?')
  let written = Number.NEGATIVE_INFINITY
  function mark(): void {
    const time = clock.now()
    if (time - written < MINUTE) return
    const doubt = clock.doubt()
    write.run(doubt?.expected ?? time, doubt?.said ?? null)
    written = time
  }
  const undo = () => {
    written = Number.NEGATIVE_INFINITY
  }
  return { mark, undo }
}
