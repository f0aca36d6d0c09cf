// The pushes of another server in the order of their creation, a batch of them at a time, each with its log
// and its files.

import type { EntryToImport } from '../../domain/audit.ts'
import type { FileToImport } from '../incoming.ts'
import { incomingFile } from './blobs.ts'
import type { ForeignDatabase, Row } from './foreign-database.ts'
import { readBlob, readEntry } from './rows.ts'
import type { Tables } from './tables.ts'

/** `bytes` estimates the memory of its rows. */
type Batch = { ids: number[]; bytes: number }

/** A push with its entries, by time, and its files, by creation. */
type PushWithBelongings = { row: Row; entries: EntryToImport[]; files: FileToImport[] }

const MOST_PUSHES = 200
const MOST_BYTES = 4 * 1024 * 1024
/** The estimated size of a push and its log, without the sealed texts. */
const PUSH_BYTES = 2_000

/** Lists batches of some megabytes each, unless a single push is larger. */
export async function listBatches(
  database: ForeignDatabase,
  { sealed }: Pick<Tables, 'sealed'>,
): Promise<Batch[]> {
  const length = sealed.map((column) => `COALESCE(LENGTH(${column}), 0)`).join(' + ')
  const batches: Batch[] = []
  const order = `SELECT id, ${length} AS size FROM pushes ORDER BY created_at, id`
  for (const { id, size } of await database.read(order)) {
    const bytes = PUSH_BYTES + Number(size)
    const last = batches.at(-1)
    if (last === undefined || last.ids.length === MOST_PUSHES || last.bytes + bytes > MOST_BYTES)
      batches.push({ ids: [Number(id)], bytes })
    else {
      last.ids.push(Number(id))
      last.bytes += bytes
    }
  }
  return batches
}

/** Reads a batch. `storage` is the folder of the files; null when none was named. */
export async function readBatch(
  database: ForeignDatabase,
  { ids }: Batch,
  { select, storage }: Pick<Tables, 'select'> & { storage: string | null },
): Promise<PushWithBelongings[]> {
  const among = `IN (${ids.join(', ')})`
  const pushes = await database.read(`SELECT ${select('pushes')} FROM pushes WHERE id ${among}`)
  const entries = await database.read(
    `SELECT ${select('audit_logs')} FROM audit_logs WHERE push_id ${among} ORDER BY audit_logs.id`,
  )
  // An attachment without a blob has no key. Its push cannot be imported.
  const blobs = await database.read(
    `SELECT ${select('active_storage_blobs')}, record_id FROM active_storage_attachments AS attached
      LEFT JOIN active_storage_blobs ON active_storage_blobs.id = attached.blob_id
      WHERE record_type = 'Push' AND attached."name" = 'files' AND record_id ${among} ORDER BY attached.id`,
  )
  const byId = new Map(pushes.map((row) => [Number(row.id), row]))
  const entriesOf = Map.groupBy(entries, ({ push_id }) => Number(push_id))
  const blobsOf = Map.groupBy(blobs, ({ record_id }) => Number(record_id))
  return ids.flatMap((id) => {
    const row = byId.get(id)
    if (row === undefined) return []
    const log = (entriesOf.get(id) ?? []).flatMap((entry) => readEntry(entry) ?? [])
    // Sort: an upgrade of the old server may have added entries for earlier times.
    log.sort((a, b) => a.at - b.at)
    const files = (blobsOf.get(id) ?? []).map((blob) => incomingFile(readBlob(blob), storage))
    return [{ row, entries: log, files }]
  })
}
