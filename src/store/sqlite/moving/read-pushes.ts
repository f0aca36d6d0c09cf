// Reads pushes with everything of them, some at a time. Damaged ones are named and left out.

import type { Database } from 'bun:sqlite'
import { DamageError } from '../../../domain/errors.ts'
import { cutBatch, ENTRY_BYTES, groupByPush, PUSH_COLUMNS, PUSH_STEP, pick } from '../../moving/tables.ts'
import type { Batch, MovingKey, MovingPush, MovingRow } from '../../moving-face.ts'
import { prepareRange } from '../engine/prepared.ts'
import * as schema from '../engine/schema.ts'
import { requireIntactRow } from '../integrity/row-checksum.ts'
import { type EntryRow, requireIntactEntry } from '../pushes/audit-chains.ts'
import { type PushRow, requireIntactPush } from '../pushes/push-checksum.ts'
import { checksumOfSecrets } from '../pushes/push-rows.ts'

type SecretsRow = typeof schema.pushSecrets.$inferSelect & { wrappedKey: Uint8Array }

/** What the range of a batch holds, by push. */
type Range = {
  secrets: ReadonlyMap<number, SecretsRow>
  labels: ReadonlyMap<number, MovingRow[]>
  shares: ReadonlyMap<number, MovingRow[]>
  files: ReadonlyMap<number, MovingRow[]>
  entries: ReadonlyMap<number, EntryRow[]>
}

export function createPushReader(database: Database): (after: MovingKey | null) => Batch<MovingPush> {
  const sizes = database.prepare<{ id: number; bytes: number }, [number]>(SIZES)
  const pushes = prepareRange(database, schema.pushes, { by: 'id', order: 'id' })
  const ofPush = { by: 'push_id', order: 'push_id' }
  const labels = prepareRange(database, schema.pushLabels, ofPush)
  const shares = prepareRange(database, schema.liveShares, ofPush)
  const files = prepareRange(database, schema.pushFiles, { by: 'push_id', order: 'push_id, n' })
  const secrets = database.prepare<SecretsRow, [number, number]>(SECRETS)
  const entries = database.prepare<EntryRow, { after: number; last: number }>(ENTRIES)

  function readRange(after: number, last: number): Range {
    return {
      secrets: new Map(secrets.all(after, last).map((row) => [row.pushId, row])),
      labels: groupByPush(labels(after, last).map((row) => pick(row, PUSH_COLUMNS.labels))),
      shares: groupByPush(shares(after, last).map((row) => pick(row, PUSH_COLUMNS.share))),
      files: groupByPush(files(after, last).map((row) => pick(row, PUSH_COLUMNS.files))),
      entries: groupEntries(entries.all({ after, last })),
    }
  }

  return (key) => {
    const after = Number(key?.[0] ?? 0)
    const last = cutBatch(sizes.all(after))
    if (last === null) return { items: [], damaged: [], next: null }
    const range = readRange(after, last)
    const items: MovingPush[] = []
    const damaged: string[] = []
    for (const row of pushes(after, last)) {
      try {
        items.push(present(row, range))
      } catch (cause) {
        if (!(cause instanceof DamageError)) throw cause
        damaged.push(cause.place)
      }
    }
    return { items, damaged, next: [last] }
  }
}

function present(row: PushRow, range: Range): MovingPush {
  requireIntactPush(row)
  const { id } = row
  const isLive = row.expiredOn === null
  const files = range.files.get(id) ?? []
  const secrets = isLive ? presentSecrets(row, range.secrets.get(id)) : null
  if (isLive && files.length !== row.files) throw new DamageError(`push ${id}`)
  return {
    push: pick(row, PUSH_COLUMNS.push),
    secrets,
    labels: range.labels.get(id)?.[0] ?? null,
    share: secrets === null ? null : (range.shares.get(id)?.[0] ?? null),
    files: isLive ? files : [],
    entries: presentLog(row, range.entries.get(id) ?? []),
  }
}

function presentSecrets({ id }: PushRow, row: SecretsRow | undefined): MovingRow {
  if (row === undefined) throw new DamageError(`push ${id}`)
  requireIntactRow(row, checksumOfSecrets(id, row), `push ${id}`)
  return pick(row, PUSH_COLUMNS.secrets)
}

/** The chain of a log, which must have no gap. */
function presentLog(push: PushRow, rows: readonly EntryRow[]): MovingRow[] {
  const numbers = new Set(rows.map(({ n }) => n).filter((n) => n < push.auditEntries))
  if (rows.length !== push.auditEntries || numbers.size !== rows.length)
    throw new DamageError(`the audit log of push ${push.id}`)
  return rows
    .toSorted((one, other) => one.id - other.id)
    .map((row) => {
      requireIntactEntry(row)
      return pick(row, PUSH_COLUMNS.entries)
    })
}

function groupEntries(rows: readonly EntryRow[]): ReadonlyMap<number, EntryRow[]> {
  const groups = new Map<number, EntryRow[]>()
  for (const row of rows) {
    const group = groups.get(row.pushId)
    if (group === undefined) groups.set(row.pushId, [row])
    else group.push(row)
  }
  return groups
}

const SIZES = `
  SELECT pushes.id AS id,
    coalesce(length(payload), 0) + coalesce(length(note), 0) + ${ENTRY_BYTES} * audit_entries AS bytes
  FROM pushes
  LEFT JOIN push_secrets ON push_secrets.push_id = pushes.id
  LEFT JOIN push_labels ON push_labels.push_id = pushes.id
  WHERE pushes.id > ? ORDER BY pushes.id LIMIT ${PUSH_STEP}`

const SECRETS = `
  SELECT push_id AS pushId, key_slot AS keySlot, salt, passphrase_salt AS passphraseSalt, payload, checksum,
    (SELECT wrapped_key FROM push_keys WHERE slot = key_slot) AS wrappedKey
  FROM push_secrets WHERE push_id > ? AND push_id <= ? ORDER BY push_id`

// Every step names the push, so that a damaged entry cannot lead into another push's log. A cross join keeps its order: SQLite
// would look through all entries otherwise.
const ENTRIES = `
  WITH RECURSIVE
    range AS MATERIALIZED (
      SELECT id, last_entry FROM pushes WHERE id > $after AND id <= $last AND last_entry IS NOT NULL
    ),
    chain AS (
      SELECT entry.* FROM range CROSS JOIN audit_entries AS entry
        WHERE entry.id = range.last_entry AND entry.push_id = range.id
      UNION ALL
      SELECT entry.* FROM chain CROSS JOIN audit_entries AS entry
      WHERE entry.id = chain.previous AND entry.push_id = chain.push_id AND entry.n < chain.n
    )
  SELECT id, push_id AS pushId, n, previous, kind, at, ip, user_agent AS userAgent, referrer, checksum FROM chain`
