// Reads the pushes of a batch of works at once. Those asked for by id come without their secrets. Those asked for by lookup come
// with them, unless a passphrase or files have to be checked first.

import type { SealedSecrets } from '../../face.ts'
import type { Session } from '../engine/database.ts'
import { DATABASE_TIME } from '../instance/instance.ts'
import { lockPushes, PUSH_COLUMNS } from './push-rows.ts'
import type { PushRow } from './stored-push.ts'

export type Wanted = { ids: readonly number[]; lookups: readonly Uint8Array[] }

export type BatchRead = {
  rows: PushRow[]
  /** By id. */
  secrets: Map<number, SealedSecrets>
  /** Pushes whose secrets another batch has to read: the payload is too large for this one, or the push has just ended. */
  unread: Set<number>
  /** The clock of the database, in milliseconds since 1970; null when nothing was read. */
  time: number | null
}

/** Payloads up to this size are read with their rows. */
const SMALL = 16 * 1024
/** Bytes of larger payloads that one batch reads; a single payload may be larger. */
const MOST_LARGE = 8 * 1024 * 1024

type Timed = { time: number }
/** `payload` is null when it is too large to be read with its row. */
type SizedSecrets = Omit<SealedSecrets, 'payload'> & { payload: Uint8Array | null; payloadBytes: number }
type Sized = { id: number; secrets: SizedSecrets }
/** `payloadBytes` is null for a row that was read without secrets. */
type LookedUp = PushRow & Timed & Omit<SizedSecrets, 'payloadBytes'> & { payloadBytes: number | null }

/** A subquery is evaluated once for the statement, not for each row. */
const TIME = `(SELECT ${DATABASE_TIME}) AS time`
const SIZED = `salt, wrapped_key AS "wrappedKey", passphrase_salt AS "passphraseSalt", octet_length(payload) AS "payloadBytes",
  CASE WHEN octet_length(payload) <= ${SMALL} THEN payload END AS payload`
const BY_IDS = `SELECT ${TIME}, ${PUSH_COLUMNS} FROM pushes WHERE id = ANY($1::bigint[])`
const BY_LOOKUPS = `
  SELECT ${TIME}, ${PUSH_COLUMNS}, secrets.* FROM pushes
  LEFT JOIN LATERAL (
    SELECT ${SIZED} FROM push_secrets WHERE push_id = pushes.id AND files = 0 AND NOT passphrase_required LIMIT 1
  ) AS secrets ON true
  WHERE lookup = ANY($1::bytea[])`

/** Reads without a lock. */
export async function readPushes(session: Session, { ids, lookups }: Wanted): Promise<BatchRead> {
  const [lookedUp, named] = await Promise.all([
    lookups.length === 0 ? [] : session.query<LookedUp>(BY_LOOKUPS, [lookups]),
    ids.length === 0 ? [] : session.query<PushRow & Timed>(BY_IDS, [ids]),
  ])
  const read: BatchRead = { rows: [], secrets: new Map(), unread: new Set(), time: null }
  const sized: Sized[] = []
  for (const { salt, wrappedKey, passphraseSalt, payload, payloadBytes, time, ...row } of lookedUp) {
    read.rows.push(row)
    read.time = time
    if (payloadBytes !== null)
      sized.push({ id: row.id, secrets: { salt, wrappedKey, passphraseSalt, payload, payloadBytes } })
  }
  for (const { time, ...row } of named) {
    read.rows.push(row)
    read.time = time
  }
  await addSecrets(session, read, sized)
  return read
}

const IDS_OF_LOOKUPS = 'SELECT id::float8 AS id FROM pushes WHERE lookup = ANY($1::bytea[])'
const SECRETS_OF = `SELECT push_id::float8 AS id, ${TIME}, ${SIZED} FROM push_secrets WHERE push_id = ANY($1::bigint[])`

/** Locks what it reads until the end of the transaction. */
export async function readAndLockPushes(session: Session, { ids, lookups }: Wanted): Promise<BatchRead> {
  const found = lookups.length === 0 ? [] : await session.query<{ id: number }>(IDS_OF_LOOKUPS, [lookups])
  const lookedUp = new Set(found.map(({ id }) => id))
  const rows = await lockPushes(session, [...new Set([...ids, ...lookedUp])])
  const plain = rows.filter((row) => lookedUp.has(row.id) && row.files === 0 && !row.passphraseRequired)
  const plainIds = plain.map(({ id }) => id)
  const sized = await session.query<SizedSecrets & Timed & { id: number }>(SECRETS_OF, [plainIds])
  const read: BatchRead = { rows, secrets: new Map(), unread: new Set(), time: sized.at(-1)?.time ?? null }
  await addSecrets(
    session,
    read,
    sized.map(({ id, time: _, ...secrets }) => ({ id, secrets })),
  )
  return read
}

/** Adds the secrets of these pushes to what was read. Large payloads are read now, as many as one batch may. */
async function addSecrets(session: Session, read: BatchRead, sized: readonly Sized[]): Promise<void> {
  const large: Sized[] = []
  for (const { id, secrets } of sized) {
    const { payload, payloadBytes, ...rest } = secrets
    if (payload === null) large.push({ id, secrets })
    else read.secrets.set(id, { ...rest, payload })
  }
  if (large.length > 0) await addLarge(session, read, large)
}

const PAYLOADS = 'SELECT push_id::float8 AS id, payload FROM push_secrets WHERE push_id = ANY($1::bigint[])'

async function addLarge(session: Session, read: BatchRead, large: readonly Sized[]): Promise<void> {
  const ids = fittingOf(large).map(({ id }) => id)
  const payloads = await session.query<{ id: number; payload: Uint8Array }>(PAYLOADS, [ids])
  const payloadOf = new Map(payloads.map(({ id, payload }) => [id, payload]))
  for (const { id, secrets } of large) {
    const { payload: _, payloadBytes, ...rest } = secrets
    const payload = payloadOf.get(id)
    // A payload that fits is missing only when its push ended a moment ago.
    if (payload === undefined) read.unread.add(id)
    else read.secrets.set(id, { ...rest, payload })
  }
}

/** Those whose payloads fit into one batch together; at least the first. */
function fittingOf(large: readonly Sized[]): Sized[] {
  let bytes = 0
  return large.filter(({ secrets: { payloadBytes } }) => {
    if (bytes > 0 && bytes + payloadBytes > MOST_LARGE) return false
    bytes += payloadBytes
    return true
  })
}
