// What a command beside the nodes can learn about a PostgreSQL database from outside it, without being a node.

import { nameBucket } from '../../domain/bucket-place.ts'
import { DomainError, isDomainError } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { readKeyFile } from '../folder/key-file.ts'
import type { Remembered } from '../postgres/instance/judging.ts'
import { createBucketWitness, type WitnessBucket } from '../witness/bucket-witness.ts'
import { createFolderWitness } from '../witness/folder-witness.ts'
import type { SavedWitness } from '../witness/saved-witness.ts'

/**
 * Where nodes remember their database: a data folder on this machine, and the bucket of the files, where only the instance key in
 * `keyFile` tells what they have written. Those are null when they are not known.
 */
export type Remembering = { dataDir: string; bucket: WitnessBucket | null; keyFile: string | null }

/** Nobody at a terminal waits for long; a node asks with more patience. */
const QUICK = { whole: 4_000, once: 2_000, pause: 150 }

/** Throws `conflict` when what the folder remembers cannot be read. */
export function readRemembered(
  { dataDir, bucket, keyFile }: Remembering,
  onWarning: (warning: string) => void,
): Remembered {
  const folder = createFolderWitness(dataDir)
  return {
    inFolder: explaining(folder.look, folder.path),
    witnessPath: folder.path,
    readOthers: async (tag) => (bucket === null ? null : readBucket(bucket, { tag, keyFile, onWarning })),
  }
}

function explaining<T>(read: () => T, path: string): T {
  try {
    return read()
  } catch (cause) {
    if (isDomainError(cause)) throw cause
    throw new DomainError(
      'conflict',
      `What the node of this machine remembers of its database cannot be read (${path}: ${reasonOf(cause)}). Run this as root or ` +
        'as the user of the node, or name another folder with --data-dir.',
    )
  }
}

type Reading = { tag: string; keyFile: string | null; onWarning: (warning: string) => void }

/** A bucket that fails keeps no node from starting either. */
async function readBucket(
  bucket: WitnessBucket,
  { tag, keyFile, onWarning }: Reading,
): Promise<SavedWitness | null> {
  try {
    if (keyFile === null) throw new Error('the instance key is not known (--key-file)')
    const keyring = readKeyFile(keyFile)
    const patient = { ...bucket, patience: bucket.patience ?? QUICK }
    return await createBucketWitness({ bucket: patient, keyring, onWarning }).read(tag)
  } catch (cause) {
    const why = reasonOf(cause).replace(/\.$/, '')
    onWarning(
      `The bucket ${nameBucket(bucket.place)} cannot tell whether this database was set back, because ${why}.`,
    )
    return null
  }
}
