// Opens the sealed files whose rows SQLite keeps, for the one process that serves them.

import { nameBucket } from '../../../domain/bucket-place.ts'
import { type FilesOptions, openFiles } from '../../files/open-files.ts'
import { createFileRecords } from '../../pushes/file-records.ts'
import type { BucketOptions } from '../../s3/bucket.ts'
import type { Steps } from '../../steps.ts'
import type { Connection } from '../engine/database.ts'
import { settleFilePlace } from './file-place.ts'

export type FilesWithRowsOptions = Omit<FilesOptions, 'records' | 'bucket'> & {
  connection: Connection
  steps: Steps
  /** Null when the files are in the data folder. */
  bucket: BucketOptions | null
}

/** Names the one process that serves in the rows of its uploads. */
const THIS_PROCESS = new Uint8Array(1)

/** What another process had not finished at its end becomes due, an upload or a removal. */
const GIVE_UP = 'UPDATE files_due SET at = ?, node = NULL, push_id = NULL WHERE at IS NULL OR push_id = 0'

/** Throws `conflict` when pushes have files in the other place. */
export function openFilesWithRows(options: FilesWithRowsOptions) {
  const { connection, now, bucket: settings } = options
  const folder = settleFilePlace({ ...options, bucket: settings && nameBucket(settings.place) })
  const records = {
    ...createFileRecords({ ...options, node: THIS_PROCESS }),
    noteReading: async () => NOTHING_TO_TELL,
    findReadElsewhere: async () => NOBODY,
  }
  const bucket = settings === null || folder === null ? null : { settings, folder }
  connection.database.run(GIVE_UP, [now()])
  return openFiles({ ...options, records, bucket })
}

const NOTHING_TO_TELL = async () => undefined
const NOBODY: ReadonlySet<string> = new Set()
