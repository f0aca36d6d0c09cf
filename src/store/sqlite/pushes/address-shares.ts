// How much each address holds in live anonymous pushes: a row for each push, deleted when it expires, and sums of these rows.

import {
  exceededLimit,
  requireRoom as requireRoomAmong,
  type Share,
  type TakenShare,
} from '../../../domain/shares.ts'
import type { ShareToTake } from '../../face.ts'
import type { Connection } from '../engine/database.ts'
import { prepareInsert } from '../engine/prepared.ts'
import { liveShares } from '../engine/schema.ts'

/** The most rows that are read to find out when there will be room. */
const MAX_SOONEST = 1_000

export type AddressShares = ReturnType<typeof createAddressShares>

/** Every function must run within a transaction. */
export function createAddressShares({ database }: Connection) {
  const insert = prepareInsert(database, liveShares)
  const sums = database.prepare<Share, { address: Uint8Array }>(
    'SELECT pushes, bytes FROM address_shares WHERE address = $address',
  )
  const soonest = database.prepare<TakenShare, { address: Uint8Array }>(
    `SELECT bytes, expires_at AS expiresAt FROM live_shares WHERE address = $address
     ORDER BY expires_at LIMIT ${MAX_SOONEST}`,
  )

  /** Throws `too_many`, naming the limit and its flag, when the address has no room for one more push. */
  function requireRoom(share: ShareToTake, now: number): void {
    const { addresses, bytes, limits } = share
    const taken = { pushes: 0, bytes: 0 }
    for (const address of addresses) {
      const sum = sums.get({ address })
      taken.pushes += sum?.pushes ?? 0
      taken.bytes += sum?.bytes ?? 0
    }
    if (exceededLimit(taken, bytes, limits) === null) return
    const live = addresses
      .flatMap((address) => soonest.all({ address }))
      .sort((one, other) => one.expiresAt - other.expiresAt)
    requireRoomAmong(share, { taken, live, now })
  }

  /** Counts a new push. */
  function take({ addresses, bytes }: ShareToTake, push: { id: number; expiresAt: number }): void {
    insert({ pushId: push.id, address: addresses[0], bytes, expiresAt: push.expiresAt })
  }

  return { requireRoom, take }
}

/** Triggers keep the sums. Recomputes them at start, in case the disk altered one. */
export function mendAddressShares({ database }: Connection): void {
  const wrong = database.query<{ n: number }, []>(COUNT_WRONG).get()?.n ?? 0
  if (wrong === 0) return
  database.transaction(() => {
    database.run('DELETE FROM address_shares')
    database.run(`INSERT INTO address_shares (address, pushes, bytes) ${SUMS}`)
  })()
}

const SUMS = 'SELECT address, count(*) AS pushes, sum(bytes) AS bytes FROM live_shares GROUP BY address'
const KEPT = 'SELECT address, pushes, bytes FROM address_shares'
const COUNT_WRONG = `
  SELECT (SELECT count(*) FROM (${SUMS} EXCEPT ${KEPT})) + (SELECT count(*) FROM (${KEPT} EXCEPT ${SUMS})) AS n`
