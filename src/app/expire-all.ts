// Expires every push of a PostgreSQL database that was set back, so that nodes may serve it again.

import { version } from '../../package.json'
import { visitFrom } from '../domain/audit.ts'
import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import { openExpiring } from '../store/opening/expire-all.ts'
import { connectTo } from '../store/postgres/reaching/address.ts'
import { reachServer } from '../store/postgres/reaching/reach.ts'
import type { ExpiredAll } from '../store/postgres/restoring/expire-all.ts'

/** A database before anything was expired. The caller closes it. */
export type DatabaseToExpire = {
  /** Server and database, without the login. */
  where: string
  /** Pushes that would be expired. */
  livePushes: number
  /** Goes on where an earlier run was broken off. */
  expireAll(onProgress: (done: number) => void): Promise<ExpiredAll>
  close(): Promise<void>
}

/** Throws `conflict` with a sentence for the operator when the database cannot be used. */
export async function openToExpire(
  address: DatabaseAddress,
  onWarning: (warning: string) => void,
): Promise<DatabaseToExpire> {
  const connect = connectTo(address)
  await reachServer({ address, connect, patience: 0, onWait: onWarning })
  const { countLive, expireAll, close } = await openExpiring(connect)
  const visit = visitFrom({ ip: '', userAgent: `oncebox/${version} (expire-all)`, referrer: '' })
  const where = presentDatabaseAddress(address)
  return {
    where,
    livePushes: await countLive(),
    expireAll: (onProgress) => expireAll({ visit, onProgress }),
    close,
  }
}
