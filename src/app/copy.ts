// Copies everything between a data folder and PostgreSQL, in either direction, from the command line. No
// server may be running at either end.

import type { DatabaseAddress } from '../domain/database-address.ts'
import { type BucketConfig, bucketSettingsOf } from '../settings/bucket.ts'
import type { Config } from '../settings/table.ts'
import type { OnCopyProgress } from '../store/copy/content.ts'
import { type Counts, copyStore } from '../store/copy/copy.ts'
import { dataFolder } from '../store/folder/data-folder.ts'
import { readKeyFile } from '../store/folder/key-file.ts'
import { becomeOwner } from '../store/folder/ownership.ts'
import { openFolderEnd, openServerEnd } from '../store/opening/copy-ends.ts'

/** Which end is PostgreSQL, the target or the source. Exactly one is set. */
type CopyEnds = { to: DatabaseAddress | null; from: DatabaseAddress | null }
/** The names of both ends, and the numbers of copied rows and files. */
export type Copied = { from: string; to: string; counts: Counts }
type CopyConfig = BucketConfig & Pick<Config, 'dataDir' | 'databasePassword'>
type CopyPorts = { now: number; onWarning: (line: string) => void; onProgress: OnCopyProgress }

/**
 * The assumed maximum file size, which sets the part size of uploads: only the source knows the real sizes.
 */
const LARGEST_FILE = 32 * 1024 ** 3

/** Throws `conflict` with the state of the source and the remedy. */
export async function copyEverything(ends: CopyEnds, config: CopyConfig, ports: CopyPorts): Promise<Copied> {
  const { dataDir, keyFile, databasePassword } = config
  const given = ends.to ?? ends.from
  if (given === null || keyFile === null) throw new Error('the command line was not checked')
  const address = { ...given, password: databasePassword ?? given.password }
  const bucket = bucketSettingsOf({ ...config, maxFileBytes: LARGEST_FILE })
  const toServer = ends.to !== null
  becomeOwner(dataDir)
  const keys = { keyring: readKeyFile(keyFile), keyFile }
  const folderEnd = () => openFolderEnd(dataDir, { create: !toServer, keyFile, ...ports })
  const serverEnd = () => openServerEnd(address, toServer)
  const [openSource, openTarget] = toServer ? [folderEnd, serverEnd] : [serverEnd, folderEnd]
  const from = await openSource()
  try {
    const to = await openTarget()
    const options = { ...ports, from, to, keys, toServer, bucket, path: dataFolder(dataDir).files }
    const counts = await copyStore(options).finally(to.close)
    return { from: from.name, to: to.name, counts }
  } finally {
    await from.close()
  }
}
