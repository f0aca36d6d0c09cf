// The sealed files of an end of a move: in a folder of the disk, or in a bucket.

import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { MINUTE } from '../../domain/time.ts'
import type { SealedFiles } from '../files-face.ts'
import { type BucketOptions, openBucket } from '../s3/bucket.ts'
import type { Patience } from '../s3/client.ts'
import type { BucketFolder } from './bucket-folder.ts'
import { createFiles } from './files.ts'
import { removeSealedFiles } from './remove-files.ts'

export type FilesEnd = {
  sealed: SealedFiles
  /** Removes every file there; nobody may use them any more. */
  removeAll(): Promise<void>
  close(): Promise<void>
}

/** Makes the folder when it is missing. */
export function openDiskEnd(path: string): FilesEnd {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return {
    sealed: createFiles(path),
    removeAll: () => removeSealedFiles(path),
    close: async () => undefined,
  }
}

/** Nobody waits for an answer: a slow store may take its time. */
const UNHURRIED: Patience = { whole: 2 * MINUTE, once: MINUTE, pause: 500 }

export type BucketEndOptions = {
  settings: BucketOptions
  folder: BucketFolder
  onWarning: (warning: string) => void
}

/** Throws `conflict` when the bucket lacks the files that it should hold. Nothing is swept meanwhile. */
export async function openBucketEnd({ settings, folder, onWarning }: BucketEndOptions): Promise<FilesEnd> {
  const nothing = async () => new Set<string>()
  const records = { findKnown: nothing, findUnfinished: nothing }
  const bucket = openBucket({ patience: UNHURRIED, ...settings, ...folder, records, onWarning })
  await bucket.confirm()
  return {
    sealed: bucket.files,
    removeAll: async () => void (await bucket.removeAll()),
    close: bucket.idle,
  }
}
