// Everything that a move reads of a PostgreSQL database, within one snapshot.

import type { PgTable } from 'drizzle-orm/pg-core'
import {
  cutBatch,
  ENTRY_BYTES,
  groupByPush,
  keyOf,
  MOVED_TABLES,
  PUSH_COLUMNS,
  PUSH_STEP,
  pick,
  STEP,
} from '../../moving/tables.ts'
import type {
  Batch,
  MovedTable,
  MovingCounts,
  MovingFacts,
  MovingFile,
  MovingKey,
  MovingPush,
  MovingReader,
  MovingRow,
} from '../../moving-face.ts'
import { columnsTo, nameOf } from '../schema/rows.ts'
import * as schema from '../schema/schema.ts'
import type { Query } from './move-row.ts'
import { orderOf, TABLES } from './moved-tables.ts'

type Found = Record<string, unknown>

export function createMovingReader(query: Query): MovingReader {
  async function readRows(table: MovedTable, after: MovingKey | null): Promise<Batch<MovingRow>> {
    const { columns, key } = MOVED_TABLES[table]
    const order = orderOf(table).join(', ')
    const given = key.map((_, n) => `$${n + 1}`).join(', ')
    const where = after === null ? '' : `WHERE (${order}) > (${given})`
    const rows = await query<Found>(
      `SELECT ${columnsTo(TABLES[table])} FROM ${nameOf(TABLES[table])} ${where} ORDER BY ${order} LIMIT ${STEP}`,
      after ?? [],
    )
    const items = rows.map((row) => pick(present(table, row), columns))
    const last = items.at(-1)
    return { items, damaged: [], next: last === undefined || rows.length < STEP ? null : keyOf(last, key) }
  }

  async function readPushes(after: MovingKey | null): Promise<Batch<MovingPush>> {
    const first = Number(after?.[0] ?? 0)
    const last = cutBatch(await query(SIZES, [first]))
    if (last === null) return { items: [], damaged: [], next: null }
    const range = [first, last]
    const ofRange = async (table: PgTable, columns: readonly string[], by = 'push_id', order = by) => {
      const rows = await query<Found>(
        `SELECT ${columnsTo(table)} FROM ${nameOf(table)} WHERE ${by} > $1 AND ${by} <= $2 ORDER BY ${order}`,
        range,
      )
      return rows.map((row) => pick(row, columns))
    }
    const pushes = await ofRange(schema.pushes, PUSH_COLUMNS.push, 'id')
    const secrets = groupByPush(await ofRange(schema.pushSecrets, PUSH_COLUMNS.secrets))
    const labels = groupByPush(await ofRange(schema.pushLabels, PUSH_COLUMNS.labels))
    const shares = groupByPush(await ofRange(schema.liveShares, PUSH_COLUMNS.share))
    const files = groupByPush(await ofRange(schema.pushFiles, PUSH_COLUMNS.files, 'push_id', 'push_id, n'))
    const entries = groupByPush(
      await ofRange(schema.auditEntries, PUSH_COLUMNS.entries, 'push_id', 'push_id, n'),
    )
    const items: MovingPush[] = []
    const damaged: string[] = []
    for (const push of pushes) {
      const id = Number(push.id)
      const found = {
        push,
        secrets: secrets.get(id)?.[0] ?? null,
        labels: labels.get(id)?.[0] ?? null,
        share: shares.get(id)?.[0] ?? null,
        files: files.get(id) ?? [],
        entries: entries.get(id) ?? [],
      }
      if (isWhole(found)) items.push(ofItsState(found))
      else damaged.push(`push ${id}`)
    }
    return { items, damaged, next: [last] }
  }

  async function readFiles(after: MovingKey | null): Promise<Batch<MovingFile>> {
    const rows = await query<MovingFile & { n: number }>(FILES, after ?? [0, -1])
    const last = rows.at(-1)
    const items = rows.map(({ id, pushId, size }) => ({ id, pushId, size }))
    return {
      items,
      damaged: [],
      next: last === undefined || rows.length < STEP ? null : [last.pushId, last.n],
    }
  }

  async function readFacts(): Promise<MovingFacts> {
    const [row] = await query<MovingFacts>(FACTS)
    return row ?? { clockMark: 0, clockDoubted: null, lastAccountId: 0 }
  }

  return {
    readFacts,
    readRows,
    readPushes,
    readFiles,
    readBucketFolder: async () =>
      (await query<{ tag: string; session: string; isUsed: boolean }>(BUCKET_FOLDER))[0] ?? null,
    count: async () => (await query<MovingCounts>(COUNTS))[0] ?? NOTHING,
  }
}

/** As the other engine has it: an answer goes with its push, and an upload that never ended is due. */
function present(table: MovedTable, row: Found): Found {
  if (table === 'filesDue') return { ...row, at: row.at ?? 0 }
  if (table === 'idempotencyKeys' && row.answer === null) return { ...row, pushId: null }
  return row
}

/** A live push has what opens it and all its files, and each push has its whole log. */
function isWhole({ push, secrets, files, entries }: MovingPush): boolean {
  const kept = entries.filter(({ bound }) => bound === null).length
  const isOpenable = secrets !== null && files.length === push.files
  return kept === push.auditEntries && (push.expiredOn !== null || isOpenable)
}

/** Nothing that opens an expired push goes anywhere. */
function ofItsState(found: MovingPush): MovingPush {
  return found.push.expiredOn === null ? found : { ...found, secrets: null, share: null, files: [] }
}

const NOTHING: MovingCounts = { accounts: 0, pushes: 0, live: 0, entries: 0, files: 0, bytes: 0, largest: 0 }

const SIZES = `
  SELECT pushes.id::float8 AS id,
    (coalesce(octet_length(payload), 0) + coalesce(octet_length(note), 0)
      + ${ENTRY_BYTES} * (audit_entries + least(failures, 1000) + least(owner_views, 1000)))::float8 AS bytes
  FROM pushes
  LEFT JOIN push_secrets ON push_secrets.push_id = pushes.id
  LEFT JOIN push_labels ON push_labels.push_id = pushes.id
  WHERE pushes.id > $1 ORDER BY pushes.id LIMIT ${PUSH_STEP}`

const FILES = `
  SELECT file_id AS id, push_id::float8 AS "pushId", size::float8 AS size, n FROM push_files
  WHERE (push_id, n) > ($1, $2) ORDER BY push_id, n LIMIT ${STEP}`

const FACTS = `
  SELECT clock_mark::float8 AS "clockMark", clock_doubted::float8 AS "clockDoubted",
    greatest(coalesce(pg_sequence_last_value(pg_get_serial_sequence('accounts', 'id')::regclass), 0),
      (SELECT coalesce(max(id), 0) FROM accounts))::float8 AS "lastAccountId"
  FROM instance`

const BUCKET_FOLDER = 'SELECT tag, session, is_used AS "isUsed" FROM bucket_folder'

const COUNTS = `
  SELECT (SELECT count(*) FROM accounts)::float8 AS accounts,
    (SELECT count(*) FROM pushes)::float8 AS pushes,
    (SELECT count(*) FROM pushes WHERE expired_on IS NULL)::float8 AS live,
    (SELECT count(*) FROM audit_entries)::float8 AS entries,
    (SELECT count(*) FROM push_files)::float8 AS files,
    (SELECT coalesce(sum(size), 0) FROM push_files)::float8 AS bytes,
    (SELECT coalesce(max(size), 0) FROM push_files)::float8 AS largest`
