// The text of the statement that writes changes of pushes, and its parameters in their order. Pushes whose version is another one
// than was read stay as they are, with all that belongs to them.

import { arraysOf, unnestOf } from '../schema/rows.ts'
import { auditEntries, pushes } from '../schema/schema.ts'
import { GIVE_BACK } from './address-shares.ts'
import { destroyAnswers } from './idempotency-keys.ts'
import type { EntryRow } from './push-log.ts'
import type { PushRow } from './stored-push.ts'

/** The columns that a view changes. */
const PROGRESS = [
  ...(['id', 'version', 'views', 'lastViewedAt', 'updatedAt'] as const),
  ...(['entries', 'auditEntries', 'failures', 'ownerViews', 'edits'] as const),
  ...(['countedFailures', 'countedAt', 'countedFrom'] as const),
]
/** The columns that only other changes write. */
export const BEYOND_PROGRESS = [
  ...(['wrongTries', 'wrongTriesSince', 'wrongTriesInAll', 'triesSpent'] as const),
  // Only for a row whose damaged times are mended at its end.
  'createdAt' as const,
  ...(['expiresAt', 'expireAfterDays', 'expireAfterViews', 'expiredOn', 'deleted', 'lost'] as const),
]
const ALL = [...PROGRESS, ...BEYOND_PROGRESS]
const ENTRY = ['pushId', 'n', 'kind', 'at', 'ip', 'userAgent', 'referrer'] as const

/** The rows of pushes with the version that was read, in the order of their ids, and the entries to append. */
export type ChangedRows = { rows: readonly PushRow[]; entries: readonly EntryRow[] }

/** What changes beside the rows. */
export type Endings = {
  /** Ids of the pushes that end: their secrets are destroyed. */
  ended: readonly number[]
  due: readonly DueFile[]
  /** Pushes that end the grants of an earlier last view, at a time. */
  closed: readonly { id: number; at: number | null }[]
  /** The time by which files may be removed. */
  certain: number
}

/** A file of the push `of` that becomes due. `pushId` is set as long as grants of a last view keep it. */
export type DueFile = { fileId: string; at: number; pushId: number | null; of: number }

export function progressValues({ rows, entries }: ChangedRows): unknown[] {
  return [...arraysOf(rows, PROGRESS), ...arraysOf(entries, ENTRY)]
}

export function wholeValues({ rows, entries }: ChangedRows, endings: Endings): unknown[] {
  const { ended, due, closed, certain } = endings
  return [
    ...[...arraysOf(rows, ALL), ...arraysOf(entries, ENTRY), ended],
    ...arraysOf(due, ['fileId', 'at', 'pushId', 'of']),
    ...[...arraysOf(closed, ['id', 'at']), certain],
  ]
}

/** Names parameters one after another, each with its type. */
function parametersFrom(first: number): (type: string) => string {
  let number = first - 1
  return (type) => {
    number += 1
    return `$${number}::${type}`
  }
}

// In the order of `wholeValues`, after the rows and entries. The id of an operation follows.
const next = parametersFrom(1 + ALL.length + ENTRY.length)
const ENDED = next('bigint[]')
const DUE = [next('text[]'), next('bigint[]'), next('bigint[]'), next('bigint[]')].join(', ')
const [CLOSED, CLOSED_AT] = [next('bigint[]'), next('bigint[]')]
const CERTAIN = next('bigint')
const WHOLE_OPERATION = next('bytea')
const PROGRESS_OPERATION = parametersFrom(1 + PROGRESS.length + ENTRY.length)('bytea')

// PostgreSQL plans a statement once for each connection, perhaps while the tables are empty. So that the plan is good for any
// number of rows, each table is bounded by the ids of the batch, and what was written is looked up in a hash table (IS TRUE).
const OF_BATCH = 'ANY($1::bigint[])'
const isIn = (column: string, rows: string) => `(${column} IN (SELECT id FROM ${rows})) IS TRUE`

/** Skips rows that another transaction holds. It never waits for a lock, so it cannot deadlock. */
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

const ENDINGS = `
    ended AS MATERIALIZED (SELECT id FROM unnest(${ENDED}) AS given(id) WHERE ${isIn('id', 'updated')}),
    secrets AS (DELETE FROM push_secrets WHERE push_id = ANY(${ENDED}) AND ${isIn('push_id', 'ended')}),
    files AS (DELETE FROM push_files WHERE push_id = ANY(${ENDED}) AND ${isIn('push_id', 'ended')}),
    due AS (
      INSERT INTO files_due (id, at, push_id) SELECT given.id, given.at, given.push_id
      FROM unnest(${DUE}) AS given(id, at, push_id, of_id)
      WHERE ${isIn('given.of_id', 'ended')}
      ON CONFLICT (id) DO UPDATE SET at = excluded.at, push_id = excluded.push_id
    ),
    grants AS (
      UPDATE files_due SET at = ${CERTAIN}, push_id = NULL
      FROM unnest(${CLOSED}, ${CLOSED_AT}) AS given(id, now)
      WHERE files_due.push_id = given.id AND files_due.push_id = ANY(${CLOSED})
        AND files_due.at > given.now AND ${isIn('given.id', 'updated')}
    ),
    freed AS (
      DELETE FROM live_shares WHERE push_id = ANY(${ENDED}) AND ${isIn('push_id', 'ended')} RETURNING address, bytes
    ),${GIVE_BACK},${destroyAnswers('ARRAY(SELECT id FROM ended)')}`

const RETURN = 'SELECT id::float8 AS id FROM updated'
const commit = (operation: string) => `, operation AS (
      INSERT INTO operations (id, result) SELECT ${operation}, coalesce(array_agg(id), '{}') FROM updated
      RETURNING result
    )
    SELECT result::float8[] AS result FROM operation`

const PROGRESS_CTES = `WITH ${updateOf(PROGRESS)}`
const WHOLE_CTES = `WITH ${updateOf(ALL)}, ${ENDINGS}`

/**
 * `write`: returns a row for each push whose version had not changed. `commit`: is a transaction by itself, takes the id of its
 * operation as one parameter more, and has those ids as its result.
 */
export const WRITE_PROGRESS = {
  write: `${PROGRESS_CTES} ${RETURN}`,
  commit: `${PROGRESS_CTES} ${commit(PROGRESS_OPERATION)}`,
}
export const WRITE_WHOLE = {
  write: `${WHOLE_CTES} ${RETURN}`,
  commit: `${WHOLE_CTES} ${commit(WHOLE_OPERATION)}`,
}
