// Reads many pushes at once for the works of a batch: those named by id without their secrets, those named by their lookup with
// them, where neither a passphrase nor files have to be checked first.

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
  /** Pushes whose payload is so large that it has to be read in another batch. */
  unread: Set<number>
  /** The clock of the database, in milliseconds since 1970; null when nothing was read. */
  time: number | null
}

/** Payloads up to this size are read with their rows. */
const SMALL = 16 * 1024
/** Bytes of larger payloads that one batch reads; a single payload may be larger. */
const MOST_LARGE = 8 * 1024 * 1024

type Timed = { time: number }
type SizedSecrets = Omit<SealedSecrets, 'payload'> & {
  payload: Uint8Array | null
  payloadBytes: number | null
}
/** The id of a push, and its secrets. */
type Sized = [number, SizedSecrets]
type PlainRow = PushRow & Timed & SizedSecrets

/** As a subquery it is reckoned once, not for each row. */
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
  const [plain, others] = await Promise.all([
    lookups.length === 0 ? [] : session.query<PlainRow>(BY_LOOKUPS, [lookups]),
    ids.length === 0 ? [] : session.query<PushRow & Timed>(BY_IDS, [ids]),
  ])
  const read: BatchRead = { rows: [], secrets: new Map(), unread: new Set(), time: null }
  const sized: Sized[] = []
  for (const { salt, wrappedKey, passphraseSalt, payload, payloadBytes, time, ...row } of plain) {
    read.rows.push(row)
    read.time = time
    if (payloadBytes !== null)
      sized.push([row.id, { salt, wrappedKey, passphraseSalt, payload, payloadBytes }])
  }
  for (const { time, ...row } of others) {
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
  const named = lookups.length === 0 ? [] : await session.query<{ id: number }>(IDS_OF_LOOKUPS, [lookups])
  const plainIds = new Set(named.map(({ id }) => id))
  const rows = await lockPushes(session, [...new Set([...ids, ...plainIds])])
  const plain = rows.filter((row) => plainIds.has(row.id) && row.files === 0 && !row.passphraseRequired)
  const wanted = plain.map(({ id }) => id)
  const found = await session.query<SizedSecrets & Timed & { id: number }>(SECRETS_OF, [wanted])
  const read: BatchRead = { rows, secrets: new Map(), unread: new Set(), time: found.at(-1)?.time ?? null }
  await addSecrets(
    session,
    read,
    found.map(({ id, time, ...secrets }) => [id, secrets]),
  )
  return read
}

/** Adds the secrets to what was read: small payloads are there, large ones are read now, as many as one batch may. */
async function addSecrets(session: Session, read: BatchRead, sized: readonly Sized[]): Promise<void> {
  const large = addSmall(read, sized)
  if (large.length === 0) return
  const ids = large.map(([id]) => id)
  const payloads = await session.query<{ id: number; payload: Uint8Array }>(PAYLOADS, [ids])
  const payloadOf = new Map(payloads.map(({ id, payload }) => [id, payload]))
  for (const [id, { payloadBytes, ...secrets }] of large) {
    const payload = payloadOf.get(id)
    // Without one the push has ended meanwhile, and is read again.
    if (payload === undefined) read.unread.add(id)
    else read.secrets.set(id, { ...secrets, payload })
  }
}

const PAYLOADS = 'SELECT push_id::float8 AS id, payload FROM push_secrets WHERE push_id = ANY($1::bigint[])'

/** Returns those whose payload is to be read in this batch. */
function addSmall(read: BatchRead, sized: readonly Sized[]): Sized[] {
  const large: Sized[] = []
  let bytes = 0
  for (const one of sized) {
    const [id, { payload, payloadBytes, ...secrets }] = one
    if (payload !== null) read.secrets.set(id, { ...secrets, payload })
    else if (bytes > 0 && bytes + (payloadBytes ?? 0) > MOST_LARGE) read.unread.add(id)
    else {
      bytes += payloadBytes ?? 0
      large.push(one)
    }
  }
  return large
}
