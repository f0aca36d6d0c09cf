// How much each address holds in live anonymous pushes: a row for each push, deleted when it expires, and sums of these rows.

import { exceededLimit, requireRoom, type Share, type TakenShare } from '../../../domain/shares.ts'
import type { ShareToTake } from '../../face.ts'
import type { Session } from '../engine/database.ts'

/** The most rows that are read to find out when there will be room. */
const MAX_SOONEST = 1_000

export type LockedShares = {
  /** Counts one more push, created at `now`, in memory. Throws `too_many`, and counts nothing, when its address has no room. */
  take(share: ShareToTake, now: number): Promise<void>
  /** Call this after the pushes were inserted: removes the sums of addresses that hold no push. */
  removeEmpty(): Promise<void>
}

/**
 * Locks the sums of these addresses, in their order, until the end of the transaction: creates on several nodes take turns, so
 * that the limits hold exactly.
 */
export async function lockAddressShares(
  session: Session,
  wanted: readonly ShareToTake[],
): Promise<LockedShares> {
  const sums = await lockSums(session, wanted)
  const sumOf = (address: Uint8Array) => sums.get(keyOf(address)) ?? { pushes: 0, bytes: 0 }

  async function take({ addresses, bytes, limits }: ShareToTake, now: number): Promise<void> {
    const taken = { pushes: 0, bytes: 0 }
    for (const sum of addresses.map(sumOf)) {
      taken.pushes += sum.pushes
      taken.bytes += sum.bytes
    }
    if (exceededLimit(taken, bytes, limits) !== null) {
      const live = await session.query<TakenShare>(SOONEST, [addresses, MAX_SOONEST])
      requireRoom({ bytes, limits }, { taken, live, now })
    }
    const [first] = addresses
    const sum = sumOf(first)
    sums.set(keyOf(first), { pushes: sum.pushes + 1, bytes: sum.bytes + bytes })
  }

  async function removeEmpty(): Promise<void> {
    const addresses = wanted.flatMap((share) => share.addresses)
    await session.query('DELETE FROM address_shares WHERE address = ANY($1::bytea[]) AND pushes <= 0', [
      addresses,
    ])
  }

  return { take, removeEmpty }
}

/**
 * Parts of a statement that subtract the shares in the rows `freed(address, bytes)` of a part before them. Locks the sums in the
 * order of their addresses, as every transaction does; an address without a push leaves nothing. What is left is computed from
 * the locked rows: the rest of the statement sees these rows as they were when it began.
 */
export const GIVE_BACK = `
    less AS (SELECT address, count(*) AS pushes, sum(bytes)::bigint AS bytes FROM freed GROUP BY address),
    held AS MATERIALIZED (
      SELECT address, sums.pushes - less.pushes AS pushes, sums.bytes - less.bytes AS bytes
      FROM address_shares AS sums JOIN less USING (address) ORDER BY address FOR UPDATE OF sums
    ),
    emptied AS (
      DELETE FROM address_shares USING held WHERE address_shares.address = held.address AND held.pushes <= 0
    ),
    lowered AS (
      UPDATE address_shares SET pushes = held.pushes, bytes = held.bytes
      FROM held WHERE address_shares.address = held.address AND held.pushes > 0
    )`

const SOONEST = `
  SELECT bytes::float8 AS bytes, expires_at::float8 AS "expiresAt" FROM live_shares WHERE address = ANY($1::bytea[])
  ORDER BY expires_at LIMIT $2::int`

// Inserts rows for new addresses, because only an existing row can be locked. The update changes nothing but locks.
const LOCK = `
  INSERT INTO address_shares (address, pushes, bytes)
  SELECT address, 0, 0 FROM unnest($1::bytea[]) AS given(address) ORDER BY address
  ON CONFLICT (address) DO UPDATE SET pushes = address_shares.pushes
  RETURNING address, pushes::float8 AS pushes, bytes::float8 AS bytes`

async function lockSums(session: Session, wanted: readonly ShareToTake[]): Promise<Map<string, Share>> {
  const addresses = new Map(wanted.flatMap((share) => share.addresses).map((one) => [keyOf(one), one]))
  const rows = await session.query<Share & { address: Uint8Array }>(LOCK, [[...addresses.values()]])
  return new Map(rows.map(({ address, pushes, bytes }) => [keyOf(address), { pushes, bytes }]))
}

function keyOf(address: Uint8Array): string {
  return Buffer.from(address).toString('latin1')
}
