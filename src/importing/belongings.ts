// What belongs to each push of another server: its log and its files. Found through temporary tables of numbers, which stay
// in memory, because the old server may have no index for it, and nothing may be written there.

import type { Database } from 'bun:sqlite'
import type { AuditEntry } from '../domain/audit.ts'
import type { IncomingFile } from '../domain/incoming.ts'
import { type Blob, incomingFile } from './blobs.ts'
import { type Row, readEntry } from './rows.ts'
import type { Select } from './tables.ts'

/** Both in the order of their creation. */
export type Belongings = { entriesOf(pushId: number): AuditEntry[]; filesOf(pushId: number): IncomingFile[] }

export function readBelongings(
  database: Database,
  { select, storage }: { select: Select; storage: string | null },
): Belongings {
  for (const statement of TEMPORARY) database.run(statement)
  const entries = database.prepare<Row, [number]>(
    `SELECT ${select('audit_logs')} FROM temp.entries_of AS own JOIN audit_logs ON audit_logs.id = own.id
     WHERE own.push_id = ? ORDER BY own.id`,
  )
  const files = database.prepare<Blob, [number]>(FILES)
  return {
    entriesOf: (pushId) => entries.all(pushId).flatMap((row) => readEntry(row) ?? []),
    filesOf: (pushId) => files.all(pushId).map((blob) => incomingFile(blob, storage)),
  }
}

const TEMPORARY = [
  `CREATE TEMP TABLE IF NOT EXISTS entries_of
    (push_id INTEGER, id INTEGER, PRIMARY KEY (push_id, id)) WITHOUT ROWID`,
  'INSERT OR IGNORE INTO temp.entries_of SELECT push_id, id FROM audit_logs WHERE push_id IS NOT NULL',
  `CREATE TEMP TABLE IF NOT EXISTS files_of
    (push_id INTEGER, id INTEGER, blob_id INTEGER, PRIMARY KEY (push_id, id)) WITHOUT ROWID`,
  `INSERT OR IGNORE INTO temp.files_of SELECT record_id, id, blob_id FROM active_storage_attachments
    WHERE record_type = 'Push' AND name = 'files' AND record_id IS NOT NULL`,
]

/** An attachment without its blob has no key, and so its push does not come. */
const FILES = `
  SELECT blob.key, blob.filename, blob.content_type AS contentType, blob.byte_size AS size, blob.checksum,
    blob.service_name AS service
  FROM temp.files_of AS own LEFT JOIN active_storage_blobs AS blob ON blob.id = own.blob_id
  WHERE own.push_id = ? ORDER BY own.id`
