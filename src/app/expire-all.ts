// Expires every push of a PostgreSQL database that was set back, so that nodes may serve it again.

import { version } from '../../package.json'
import { visitFrom } from '../domain/audit.ts'
import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import { openExpiring } from '../store/opening/server-database.ts'
import { countLive, type ExpiredAll, expireAll } from '../store/postgres/restoring/expire-all.ts'

/** A database before anything was expired. The caller closes it. */
export type DatabaseToExpire = {
  /** Server and database, without the login. */
  where: string
  /** Pushes that would be expired. */
  livePushes: number
  /** All or nothing. */
  expireAll(onProgress: (done: number) => void): Promise<ExpiredAll>
  close(): Promise<void>
}

/** Throws `conflict` with a sentence for the operator when the database cannot be used. */
export async function openToExpire(address: DatabaseAddress): Promise<DatabaseToExpire> {
  const database = await openExpiring(address)
  const visit = visitFrom({ ip: '', userAgent: `oncebox/${version} (expire-all)`, referrer: '' })
  const where = presentDatabaseAddress(address)
  return {
    where,
    livePushes: await countLive(database),
    expireAll: (onProgress) => expireAll(database, { visit, onProgress }),
    close: database.close,
  }
}
