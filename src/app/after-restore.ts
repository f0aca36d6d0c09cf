// Makes a PostgreSQL database that was set back safe to serve: expires every push in it.

import { existsSync } from 'node:fs'
import { version } from '../../package.json'
import { visitFrom } from '../domain/audit.ts'
import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import { becomeOwner } from '../store/folder/ownership.ts'
import { openAfterRestore } from '../store/opening/after-restore.ts'
import { connectTo } from '../store/postgres/reaching/address.ts'
import { reachServer } from '../store/postgres/reaching/reach.ts'
import type { WitnessBucket } from '../store/witness/bucket-witness.ts'

export type AfterRestoreWish = {
  address: DatabaseAddress
  /** Where the files are, and the key file of the nodes, which sign what they remember there; null for a disk. */
  bucket: (WitnessBucket & { keyFile: string }) | null
  /** Of this node: what it remembers of the database is renewed. It may be missing. */
  dataDir: string
  onWarning: (warning: string) => void
  /** Told every few seconds while it looks for nodes of another database: where, and how many seconds are left. */
  onWait: (place: string, seconds: number) => void
}

/** A database before anything was expired. The caller closes it. */
export type RestoredDatabase = {
  /** Server and database, without the login. */
  where: string
  /** Pushes that would be expired. */
  livePushes: number
  /** Why nodes do not serve, as one of them found it; null when none has noticed anything. */
  halted: string | null
  /** Resolves to the number of pushes that were expired. Goes on where an earlier run was broken off. */
  expireEverything(onProgress: (done: number, total: number) => void): Promise<number>
  close(): Promise<void>
}

/** Throws `conflict` with a sentence for the operator when the database cannot be used. */
export async function openRestored({
  address,
  bucket,
  dataDir,
  onWarning,
  onWait,
}: AfterRestoreWish): Promise<RestoredDatabase> {
  if (existsSync(dataDir)) becomeOwner(dataDir)
  const connect = connectTo(address)
  await reachServer({ address, connect, patience: 0, onWait: onWarning })
  const { livePushes, halted, run, close } = await openAfterRestore({
    ...{ connect, bucket, dataDir, onWarning, onWait },
  })
  const visit = visitFrom({ ip: '', userAgent: `oncebox/${version} (after-restore)`, referrer: '' })
  const expireEverything: RestoredDatabase['expireEverything'] = (onProgress) => run({ visit, onProgress })
  return { where: presentDatabaseAddress(address), livePushes, halted, expireEverything, close }
}
