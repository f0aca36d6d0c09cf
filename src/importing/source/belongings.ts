// The rows of one batch of pushes, each with its log and its files.

import type { EntryToImport } from '../../domain/audit.ts'
import type { IncomingFile } from '../../domain/incoming.ts'
import { incomingFile } from './blobs.ts'
import { type ForeignDatabase, type Row, readByIds } from './foreign-database.ts'
import type { Batch } from './outline.ts'
import { readBlob, readEntry } from './rows.ts'
import type { Select } from './tables.ts'

/** Entries are by their time, files in the order of their creation. */
export type PushWithBelongings = { row: Row; entries: EntryToImport[]; files: IncomingFile[] }

export type BatchOptions = {
  select: Select
  /** The folder of the files; null when none was named. */
  storage: string | null
}

export async function readBatch(
  database: ForeignDatabase,
  { pushes }: Batch,
  { select, storage }: BatchOptions,
): Promise<PushWithBelongings[]> {
  const rows = await readByIds(database, {
    sql: `SELECT ${select('pushes')} FROM pushes WHERE pushes.id`,
    ids: pushes.map(({ id }) => id),
  })
  const entries = await readByIds(database, {
    sql: `SELECT ${select('audit_logs')} FROM audit_logs WHERE audit_logs.id`,
    ids: pushes.flatMap((push) => [...push.entries]),
  })
  const blobs = await readByIds(database, {
    sql: blobsOf(select),
    ids: pushes.flatMap((push) => [...push.files]),
  })
  const rowsOf = (ids: Float64Array, from: Map<number, Row>): Row[] =>
    [...ids].flatMap((id): Row[] => [from.get(id)].filter((row) => row !== undefined))
  return pushes.flatMap(({ id, ...own }) => {
    const row = rows.get(id)
    if (row === undefined) return []
    const log = rowsOf(own.entries, entries).flatMap((entry) => readEntry(entry) ?? [])
    // Entries that an upgrade of the old server wrote later tell of earlier times.
    log.sort((a, b) => a.at - b.at)
    const files = rowsOf(own.files, blobs).map((blob) => incomingFile(readBlob(blob), storage))
    return [{ row, entries: log, files }]
  })
}

/** An attachment without its blob has no key, and so its push does not come. */
function blobsOf(select: Select): string {
  return `SELECT active_storage_attachments.id AS id, ${select('active_storage_blobs')}
    FROM active_storage_attachments
    LEFT JOIN active_storage_blobs ON active_storage_blobs.id = active_storage_attachments.blob_id
    WHERE active_storage_attachments.id`
}
