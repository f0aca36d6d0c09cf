// Copies everything between a data folder and PostgreSQL, for the command line: no server runs at either end meanwhile.

import type { DatabaseAddress } from '../domain/database-address.ts'
import { type BucketConfig, bucketSettingsOf } from '../settings/bucket.ts'
import type { Config } from '../settings/table.ts'
import type { OnProgress } from '../store/copy/content.ts'
import { type Copied, copyStore } from '../store/copy/copy.ts'
import { dataFolder } from '../store/folder/data-folder.ts'
import { readKeyFile } from '../store/folder/key-file.ts'
import { becomeOwner } from '../store/folder/ownership.ts'
import { openFolderEnd, openServerEnd } from '../store/opening/copy-ends.ts'

/** One of the two: the end that PostgreSQL is. */
export type CopyEnds = { to: DatabaseAddress | null; from: DatabaseAddress | null }
export type CopyConfig = BucketConfig & Pick<Config, 'dataDir' | 'databasePassword'>
export type CopyPorts = { now: number; onWarning: (line: string) => void; onProgress: OnProgress }

/** Only the source knows the sizes of its files; parts of the usual size are enough for this much. */
const LARGEST_FILE = 32 * 1024 ** 3

/** Throws `conflict`, saying whether the source is as it was, and what to do. */
export async function copyEverything(ends: CopyEnds, config: CopyConfig, ports: CopyPorts): Promise<Copied> {
  const { dataDir, keyFile, databasePassword } = config
  const given = ends.to ?? ends.from
  if (given === null || keyFile === null) throw new Error('the command line was not checked')
  const address = { ...given, password: databasePassword ?? given.password }
  const bucket = bucketSettingsOf({ ...config, maxFileBytes: LARGEST_FILE })
  const toServer = ends.to !== null
  becomeOwner(dataDir)
  const keys = { keyring: readKeyFile(keyFile), keyFile }
  const openFolder = (create: boolean) => openFolderEnd(dataDir, { create, keyFile, ...ports })
  const openServer = (create: boolean) => openServerEnd(address, create)
  const [openSource, openTarget] = toServer ? [openFolder, openServer] : [openServer, openFolder]
  const from = await openSource(false)
  return copyStore({
    ...{ ...ports, from, keys, toServer, bucket, path: dataFolder(dataDir).files },
    openTarget: (isCopied) => openTarget(!isCopied),
  }).finally(from.close)
}
