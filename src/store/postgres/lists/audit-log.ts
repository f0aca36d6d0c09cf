// Reads the audit log of a push, in the order of time.

import { type AuditEntry, PAGE_SIZE } from '../../../domain/audit.ts'
import type { AuditStore } from '../../face.ts'
import type { Read } from '../engine/database.ts'

/** Entries in one piece of `readAll`. */
const PIECE = 1_000

const ENTRIES = `
  SELECT e.n, e.kind, e.at::float8 AS at, e.ip, e.user_agent AS "userAgent", e.referrer FROM audit_entries e
  WHERE e.push_id = $1`

const PAGE = `${ENTRIES} ORDER BY e.n LIMIT ${PAGE_SIZE} OFFSET $2`
const SOME = `${ENTRIES} AND e.n > $2 AND e.n < $3 ORDER BY e.n LIMIT ${PIECE}`
// Entries are numbered from 0.
const LENGTH = 'SELECT entries FROM pushes WHERE id = $1'

type EntryRow = AuditEntry & { n: number }

/** The log of a push that was purged meanwhile is empty. */
export function createAuditLog(read: Read): AuditStore {
  async function listPage({ id }: { id: number }, pageNumber: number): Promise<AuditEntry[]> {
    const rows = await read(({ query }) => query<EntryRow>(PAGE, [id, (pageNumber - 1) * PAGE_SIZE]))
    return rows.map(presentEntry)
  }

  /** Ends with the entry that is the last one when the reading begins, however fast others follow. */
  async function* readAll({ id }: { id: number }): AsyncGenerator<AuditEntry[]> {
    const [push] = await read(({ query }) => query<{ entries: number }>(LENGTH, [id]))
    for (let after: number | null = -1; push !== undefined && after !== null; ) {
      const from: number = after
      const rows: EntryRow[] = await read(({ query }) => query(SOME, [id, from, push.entries]))
      if (rows.length > 0) yield rows.map(presentEntry)
      after = rows.length < PIECE ? null : (rows.at(-1)?.n ?? null)
    }
  }

  return { listPage, readAll }
}

function presentEntry({ n, ...entry }: EntryRow): AuditEntry {
  return entry
}
