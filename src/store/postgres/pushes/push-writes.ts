// Writes changes of pushes in one statement, for as many pushes as there are. Pushes whose version is another one than was read
// stay as they are, with all that belongs to them.

import { grantLifetime } from '../../../domain/files.ts'
import type { Session, Statement } from '../engine/database.ts'
import { arraysOf, unnestOf } from '../schema/rows.ts'
import { auditEntries, pushes } from '../schema/schema.ts'
import { GIVE_BACK } from './address-shares.ts'
import { destroyAnswers } from './idempotency-keys.ts'
import type { Change } from './push-changes.ts'
import { cutsOf } from './push-log.ts'
import { readFiles } from './push-rows.ts'
import type { PushRow } from './stored-push.ts'

/** The columns that a view changes. */
const PROGRESS = [
  ...(['id', 'version', 'views', 'lastViewedAt', 'updatedAt'] as const),
  ...(['entries', 'auditEntries', 'failures', 'ownerViews'] as const),
]
const REST = [
  ...(['wrongTries', 'wrongTriesSince', 'wrongTriesInAll', 'triesSpent'] as const),
  ...(['expiresAt', 'expireAfterDays', 'expireAfterViews', 'expiredOn', 'deleted', 'lost'] as const),
]
const ALL = [...PROGRESS, ...REST]
const ENTRY = ['pushId', 'n', 'bound', 'kind', 'at', 'ip', 'userAgent', 'referrer'] as const

/** `certain` is the time by which files may be removed. */
export type WritesOptions = { certain: number }

/** Within a transaction. Returns the ids of the pushes whose version had not changed. */
export async function writeChanges(
  session: Session,
  changes: readonly Change[],
  options: WritesOptions,
): Promise<Set<number>> {
  const planned = await planChanges(session, changes, options)
  if (planned === null) return new Set()
  const text = planned.isWhole ? WRITE_ALL : WRITE_PROGRESS
  const rows = await session.query<{ id: number }>(text, planned.values)
  return new Set(rows.map(({ id }) => id))
}

/** What a statement needs to write changes. */
export type PlannedChanges = { isWhole: boolean; values: unknown[] }

/** A statement that is a transaction by itself, and whose result are the ids of the pushes whose version had not changed. */
export function statementOf({ isWhole, values }: PlannedChanges, operationId: Uint8Array): Statement {
  return { text: isWhole ? COMMIT_ALL : COMMIT_PROGRESS, values: [...values, operationId] }
}

/** Null when there are none. Reads the files of pushes that end, which nothing but their end changes. */
export async function planChanges(
  session: Session,
  changes: readonly Change[],
  { certain }: WritesOptions,
): Promise<PlannedChanges | null> {
  if (changes.length === 0) return null
  const sorted = [...changes].sort((one, other) => one.before.id - other.before.id)
  const rows = sorted.map(({ before, after }) => ({ ...after, version: before.version }))
  const entries = arraysOf(
    sorted.flatMap((change) => change.entries),
    ENTRY,
  )
  if (!sorted.some(isMoreThanProgress))
    return { isWhole: false, values: [...arraysOf(rows, PROGRESS), ...entries] }
  const rest = await restOf(session, sorted, certain)
  return { isWhole: true, values: [...arraysOf(rows, ALL), ...entries, ...rest] }
}

function isMoreThanProgress({ before, after, end, grantsEnded }: Change): boolean {
  if (end !== null || grantsEnded !== null) return true
  return REST.some((name) => before[name] !== after[name]) || cutsOf(before, after).length > 0
}

async function restOf(session: Session, changes: readonly Change[], certain: number): Promise<unknown[]> {
  const ended = changes.filter(({ end }) => end !== null).map(({ before }) => before.id)
  const closed = changes.filter(({ grantsEnded }) => grantsEnded !== null)
  const cuts = changes.flatMap(({ before, after }) => cutsOf(before, after))
  return [
    ended,
    ...arraysOf(await findDue(session, changes, certain), ['fileId', 'at', 'pushId', 'of']),
    closed.map(({ before }) => before.id),
    closed.map(({ grantsEnded }) => grantsEnded),
    certain,
    ...arraysOf(cuts, ['pushId', 'bound', 'keep']),
  ]
}

/** A file that becomes due; `pushId` is set as long as grants of a last view keep it. */
type Due = { fileId: string; at: number; pushId: number | null; of: number }

async function findDue(session: Session, changes: readonly Change[], certain: number): Promise<Due[]> {
  const withFiles = changes.filter(({ before, end }) => end !== null && before.files > 0)
  if (withFiles.length === 0) return []
  const files = await readFiles(
    session,
    withFiles.map(({ before }) => before.id),
  )
  const endOf = new Map(withFiles.map(({ before, end }) => [before.id, end]))
  return files.map(({ pushId, fileId, size }) => {
    const end = endOf.get(pushId)
    if (end === null || end === undefined || end.keepUntil === null)
      return { fileId, at: certain, pushId: null, of: pushId }
    return { fileId, at: Math.min(end.now + grantLifetime(size), end.keepUntil), pushId, of: pushId }
  })
}

// PostgreSQL plans a statement once for each connection, perhaps while the tables are empty. So that the plan is good for any
// number of rows, each table is bounded by the ids of the batch, and what was written is looked up in a hash table (IS TRUE).
const OF_BATCH = 'ANY($1::bigint[])'
const isIn = (column: string, rows: string) => `(${column} IN (SELECT id FROM ${rows})) IS TRUE`

/** A row that another transaction changes at this moment is left to it: nobody waits here, so there is no deadlock. */
function updateOf(names: readonly (keyof PushRow & string)[]): string {
  const columns = names.filter((name) => name !== 'id' && name !== 'version').map((name) => pushes[name].name)
  const set = columns.map((column) => `${column} = given.${column}`).join(', ')
  return `
    free AS MATERIALIZED (
      SELECT id FROM pushes WHERE id = ${OF_BATCH} ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
    ),
    updated AS (
      UPDATE pushes SET version = pushes.version + 1, ${set} FROM ${unnestOf(pushes, names, 1)}
      WHERE pushes.id = given.id AND pushes.version = given.version AND pushes.id = ${OF_BATCH}
        AND ${isIn('given.id', 'free')}
      RETURNING pushes.id
    ),
    appended AS (
      INSERT INTO audit_entries (${ENTRY.map((name) => auditEntries[name].name).join(', ')})
      SELECT given.* FROM ${unnestOf(auditEntries, ENTRY, 1 + names.length)} WHERE ${isIn('given.push_id', 'updated')}
    )`
}

const FIRST = 1 + ALL.length + ENTRY.length
const ENDED = `$${FIRST}::bigint[]`

const ENDINGS = `
    ended AS MATERIALIZED (SELECT id FROM unnest(${ENDED}) AS given(id) WHERE ${isIn('id', 'updated')}),
    secrets AS (DELETE FROM push_secrets WHERE push_id = ANY(${ENDED}) AND ${isIn('push_id', 'ended')}),
    files AS (DELETE FROM push_files WHERE push_id = ANY(${ENDED}) AND ${isIn('push_id', 'ended')}),
    due AS (
      INSERT INTO files_due (id, at, push_id) SELECT given.id, given.at, given.push_id
      FROM unnest($${FIRST + 1}::text[], $${FIRST + 2}::bigint[], $${FIRST + 3}::bigint[], $${FIRST + 4}::bigint[])
        AS given(id, at, push_id, of_id)
      WHERE ${isIn('given.of_id', 'ended')}
      ON CONFLICT (id) DO UPDATE SET at = excluded.at, push_id = excluded.push_id
    ),
    grants AS (
      UPDATE files_due SET at = $${FIRST + 7}::bigint, push_id = NULL
      FROM unnest($${FIRST + 5}::bigint[], $${FIRST + 6}::bigint[]) AS given(id, now)
      WHERE files_due.push_id = given.id AND files_due.push_id = ANY($${FIRST + 5}::bigint[])
        AND files_due.at > given.now AND ${isIn('given.id', 'updated')}
    ),
    freed AS (
      DELETE FROM live_shares WHERE push_id = ANY(${ENDED}) AND ${isIn('push_id', 'ended')} RETURNING address, bytes
    ),${GIVE_BACK},${destroyAnswers('ARRAY(SELECT id FROM ended)')},
    cut AS (
      DELETE FROM audit_entries
      USING unnest($${FIRST + 8}::bigint[], $${FIRST + 9}::text[], $${FIRST + 10}::int[]) AS given(push_id, bound, keep),
        LATERAL (
          SELECT n FROM audit_entries AS older WHERE older.push_id = given.push_id AND older.bound = given.bound
          ORDER BY n DESC OFFSET given.keep LIMIT 1
        ) AS latest
      WHERE audit_entries.push_id = given.push_id AND audit_entries.push_id = ANY($${FIRST + 8}::bigint[])
        AND audit_entries.bound = given.bound AND audit_entries.n <= latest.n AND ${isIn('given.push_id', 'updated')}
    )`

const RETURN = 'SELECT id::float8 AS id FROM updated'
const WRITE_PROGRESS = `WITH ${updateOf(PROGRESS)} ${RETURN}`
const WRITE_ALL = `WITH ${updateOf(ALL)}, ${ENDINGS} ${RETURN}`

const commit = (parameter: number) => `, operation AS (
      INSERT INTO operations (id, result) SELECT $${parameter}::bytea, coalesce(array_agg(id), '{}') FROM updated
      RETURNING result
    )
    SELECT result::float8[] AS result FROM operation`
const COMMIT_PROGRESS = `WITH ${updateOf(PROGRESS)} ${commit(1 + PROGRESS.length + ENTRY.length)}`
const COMMIT_ALL = `WITH ${updateOf(ALL)}, ${ENDINGS} ${commit(FIRST + 11)}`
