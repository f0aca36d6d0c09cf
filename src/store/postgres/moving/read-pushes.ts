// Reads pushes with everything of them, some at a time. Damaged ones are named and left out.

import type { PgTable } from 'drizzle-orm/pg-core'
import { cutBatch, ENTRY_BYTES, groupByPush, PUSH_COLUMNS, PUSH_STEP, pick } from '../../moving/tables.ts'
import type { Batch, MovingKey, MovingPush, MovingRow } from '../../moving-face.ts'
import { columnsTo, nameOf } from '../schema/rows.ts'
import * as schema from '../schema/schema.ts'
import type { Query } from './move-row.ts'

/** What a batch holds, by push. */
type Range = {
  pushes: readonly MovingRow[]
  secrets: ReadonlyMap<number, MovingRow[]>
  labels: ReadonlyMap<number, MovingRow[]>
  shares: ReadonlyMap<number, MovingRow[]>
  files: ReadonlyMap<number, MovingRow[]>
  entries: ReadonlyMap<number, MovingRow[]>
}

export function createPushReader(query: Query): (after: MovingKey | null) => Promise<Batch<MovingPush>> {
  return async (after) => {
    const first = Number(after?.[0] ?? 0)
    const last = cutBatch(await query(SIZES, [first]))
    if (last === null) return { items: [], damaged: [], next: null }
    const range = await readRange(query, [first, last])
    return { ...sortOut(range), next: [last] }
  }
}

/** All rows of the pushes after the first id, up to the last one. */
async function readRange(query: Query, ids: readonly [number, number]): Promise<Range> {
  const ofRange = async (table: PgTable, columns: readonly string[], by = 'push_id', order = by) => {
    const rows = await query<Record<string, unknown>>(
      `SELECT ${columnsTo(table)} FROM ${nameOf(table)} WHERE ${by} > $1 AND ${by} <= $2 ORDER BY ${order}`,
      ids,
    )
    return rows.map((row) => pick(row, columns))
  }
  return {
    pushes: await ofRange(schema.pushes, PUSH_COLUMNS.push, 'id'),
    secrets: groupByPush(await ofRange(schema.pushSecrets, PUSH_COLUMNS.secrets)),
    labels: groupByPush(await ofRange(schema.pushLabels, PUSH_COLUMNS.labels)),
    shares: groupByPush(await ofRange(schema.liveShares, PUSH_COLUMNS.share)),
    files: groupByPush(await ofRange(schema.pushFiles, PUSH_COLUMNS.files, 'push_id', 'push_id, n')),
    entries: groupByPush(await ofRange(schema.auditEntries, PUSH_COLUMNS.entries, 'push_id', 'push_id, n')),
  }
}

function sortOut(range: Range): Omit<Batch<MovingPush>, 'next'> {
  const items: MovingPush[] = []
  const damaged: string[] = []
  for (const push of range.pushes) {
    const found = joined(push, range)
    if (isWhole(found)) items.push(ofItsState(found))
    else damaged.push(`push ${push.id}`)
  }
  return { items, damaged }
}

function joined(push: MovingRow, { secrets, labels, shares, files, entries }: Range): MovingPush {
  const id = Number(push.id)
  return {
    push,
    secrets: secrets.get(id)?.[0] ?? null,
    labels: labels.get(id)?.[0] ?? null,
    share: shares.get(id)?.[0] ?? null,
    files: files.get(id) ?? [],
    entries: entries.get(id) ?? [],
  }
}

/** A live push has what opens it and all its files, and each push has its whole log. */
function isWhole({ push, secrets, files, entries }: MovingPush): boolean {
  const isOpenable = secrets !== null && files.length === push.files
  return entries.length === push.auditEntries && (push.expiredOn !== null || isOpenable)
}

/** Nothing that opens an expired push goes anywhere. */
function ofItsState(found: MovingPush): MovingPush {
  return found.push.expiredOn === null ? found : { ...found, secrets: null, share: null, files: [] }
}

const SIZES = `
  SELECT pushes.id::float8 AS id,
    (coalesce(octet_length(payload), 0) + coalesce(octet_length(note), 0)
      + ${ENTRY_BYTES} * audit_entries)::float8 AS bytes
  FROM pushes
  LEFT JOIN push_secrets ON push_secrets.push_id = pushes.id
  LEFT JOIN push_labels ON push_labels.push_id = pushes.id
  WHERE pushes.id > $1 ORDER BY pushes.id LIMIT ${PUSH_STEP}`
