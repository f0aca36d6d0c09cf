// The audit log of each push. All entries are appended to one table, under the lock of their push. Each entry
// names the previous one, and the push names its last one.

import {
  type AuditEntry,
  countEntry,
  type LogCounts,
  type LogPlace,
  type NewEntry,
  PAGE_SIZE,
} from '../../domain/audit.ts'
import { forSome, type RowOf, select, statement } from '../statements.ts'
import { all, breathe, first, isThere, run, type Step, type Steps } from '../steps.ts'
import { auditEntries, pushState } from '../tables.ts'

/** The number of entries in one read. */
const PIECE = 1_000

const STATE = select(pushState, 'WHERE push_id = $1')
const FIND = forSome((ids) => select(auditEntries, `WHERE id IN (${ids}) AND push_id = $1 ORDER BY id`), 1)
/** Selects $3 entries of a log, backwards from entry $2. */
const BACK_FROM = statement<{ id: number; previous: number | null }>(
  `WITH RECURSIVE log (id, previous) AS (
      SELECT id, previous FROM audit_entries WHERE id = $2 AND push_id = $1
      UNION ALL
      SELECT entry.id, entry.previous FROM log JOIN audit_entries AS entry ON entry.id = log.previous
        WHERE entry.push_id = $1)
    SELECT id, previous FROM log LIMIT $3`,
)
const adding = (previous: string) =>
  statement(
    `INSERT INTO audit_entries (push_id, previous, kind, at, ip, user_agent, referrer)
    VALUES ($1, ${previous}, $2, $3, $4, $5, $6)`,
  )
const ADD_FIRST = adding('NULL')
const ADD = adding('(SELECT last_entry FROM push_state WHERE push_id = $1)')
const removal = (most = '') =>
  statement(
    `WITH RECURSIVE log (id) AS (
      SELECT last_entry FROM push_state WHERE push_id = $1
      UNION ALL
      SELECT entry.previous FROM log JOIN audit_entries AS entry ON entry.id = log.id WHERE entry.push_id = $1)
    DELETE FROM audit_entries WHERE id IN (SELECT id FROM log${most}) AND push_id = $1`,
  )
const REMOVE = removal()
const REMOVE_LAST = removal(` LIMIT ${PIECE}`)
const SHORTEN = statement(
  `UPDATE push_state SET last_entry = $2, audit_entries = audit_entries - ${PIECE} WHERE push_id = $1`,
)

/** Makes the operations on logs. A purged push has an empty log. */
export function createAuditLog({ read }: Pick<Steps, 'read'>) {
  /**
   * Lists the ids of the last `most` entries, the latest first. Leaves out those that are added meanwhile.
   */
  async function listLastIds({ id, lastEntry }: RowOf<typeof pushState>, most: number): Promise<number[]> {
    const ids: number[] = []
    for (let next = lastEntry; next !== null && ids.length < most; ) {
      const from: number = next
      const piece = await read(
        () => all(BACK_FROM, id, from, Math.min(PIECE, most - ids.length)),
        (found) => found.length > 0,
      )
      for (const entry of piece) ids.push(entry.id)
      next = piece.at(-1)?.previous ?? null
      await breathe()
    }
    return ids
  }

  async function find(pushId: number, ids: readonly number[]): Promise<AuditEntry[]> {
    return (await read(() => FIND(ids, pushId))).map(presentEntry)
  }

  /** Lists entries oldest first; `pageNumber` counts from 1. */
  async function listPage({ id }: { id: number }, pageNumber: number): Promise<AuditEntry[]> {
    const state = await read(() => first(STATE, id), isThere)
    const left = (state?.auditEntries ?? 0) - (pageNumber - 1) * PAGE_SIZE
    if (state === null || left <= 0) return []
    return find(id, (await listLastIds(state, left)).slice(-PAGE_SIZE))
  }

  /** Yields the whole log, oldest first, a piece at a time. */
  async function* readAll({ id }: { id: number }): AsyncGenerator<AuditEntry[]> {
    const state = await read(() => first(STATE, id), isThere)
    if (state === null) return
    const ids = (await listLastIds(state, Number.POSITIVE_INFINITY)).reverse()
    for (let from = 0; from < ids.length; from += PIECE) {
      const piece = await find(id, ids.slice(from, from + PIECE))
      if (piece.length > 0) yield piece
      await breathe()
    }
  }

  return { listPage, readAll }
}

/**
 * Removes the last entries of a log that is too long to remove in one step. Returns false for a shorter log.
 */
export function* shortenLog(push: { id: number; auditEntries: number }): Step<boolean> {
  const lastEntry = push.auditEntries > 2 * PIECE ? (yield* first(STATE, push.id))?.lastEntry : null
  const last = lastEntry == null ? [] : yield* all(BACK_FROM, push.id, lastEntry, PIECE)
  if (last.length < PIECE) return false
  yield* run(REMOVE_LAST, push.id)
  yield* run(SHORTEN, push.id, last.at(-1)?.previous ?? null)
  return true
}

export function removeLog(pushId: number): Step<void> {
  return run(REMOVE, pushId)
}

/** Whether the disk has room for optional entries. */
export type Room = Pick<LogPlace, 'hasRoom'>

/**
 * Counts an entry. Returns the push with its new counts, and the step that inserts the entry; null if it is
 * only counted. Run that step before the statement that updates the push.
 */
export function appending<P extends LogCounts & { id: number; ownerId: number | null }>(
  push: P,
  entry: NewEntry,
  { hasRoom }: Room,
): { push: P; add: Step<void> | null } {
  const { counts, isKept } = countEntry(push, entry, { ownerId: push.ownerId, hasRoom })
  if (!isKept) return { push: counts, add: null }
  const { kind, at, visit } = entry
  const texts = [plain(visit.ip), plain(visit.userAgent), plain(visit.referrer)]
  return { push: counts, add: run(push.auditEntries === 0 ? ADD_FIRST : ADD, push.id, kind, at, ...texts) }
}

/** Removes U+0000, which PostgreSQL refuses in a text. */
function plain(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

function presentEntry({ kind, at, ip, userAgent, referrer }: RowOf<typeof auditEntries>): AuditEntry {
  return { kind, at, ip, userAgent, referrer }
}
