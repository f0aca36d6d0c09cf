// Opens the sealed files whose rows SQLite keeps, for the one process that serves them.

import { type FilesOptions, openFiles } from '../../files/open-files.ts'
import type { BucketOptions } from '../../s3/bucket.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { settleFilePlace } from './file-place.ts'
import { createFileRecords } from './file-records.ts'
import { createFileRows } from './file-rows.ts'

export type FilesWithRowsOptions = Omit<FilesOptions, 'records' | 'bucket'> & {
  connection: Connection
  transact: Transact
  /** Null when the files are in the data folder. */
  bucket: BucketOptions | null
}

/**
 * When a transaction makes files due, they are removed right after it. Throws `conflict` when pushes have files in the other
 * place.
 */
export function openFilesWithRows(options: FilesWithRowsOptions) {
  const { connection, transact, certain, bucket: settings } = options
  const rows = createFileRows(connection, { certain, onDue: () => setImmediate(files.removeDue) })
  const folder = settleFilePlace({ ...options, rows, wantsBucket: settings !== null })
  const records = createFileRecords({ rows, transact, certain })
  const bucket = settings === null || folder === null ? null : { settings, folder }
  const files = openFiles({ ...options, records, bucket })
  rows.giveUpUnfinished(certain())
  return { ...files, rows }
}
