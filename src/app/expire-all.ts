// Expires every push of a PostgreSQL database that was rolled back, so that nodes may serve it again.

import { version } from '../../package.json'
import { visitFrom } from '../domain/audit.ts'
import { type DatabaseAddress, presentDatabaseAddress } from '../domain/database-address.ts'
import { openExpiring } from '../store/opening/server-database.ts'
import { countLive, expireAll } from '../store/postgres/expire-all.ts'

/**
 * Opens a database, which the caller must close. `livePushes` counts the pushes that would be expired, all or
 * none. Throws `conflict` with a message for the operator if the database cannot be used.
 */
export async function openToExpire(address: DatabaseAddress) {
  const database = await openExpiring(address)
  const visit = visitFrom({ ip: '', userAgent: `oncebox/${version} (expire-all)`, referrer: '' })
  return {
    where: presentDatabaseAddress(address),
    livePushes: await countLive(database),
    expireAll: (onProgress: (done: number) => void) => expireAll(database, { visit, onProgress }),
    [Symbol.asyncDispose]: database.close,
  }
}
