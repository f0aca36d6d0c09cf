// Creates pushes in batches.

import { DomainError, isDomainError } from '../../../domain/errors.ts'
import type { Now } from '../../../domain/time.ts'
import { inactiveAccount, usedIdempotencyKey } from '../../every-engine/refusals.ts'
import type { PushToStore, StoredPush } from '../../face.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import { type LockedShares, lockAddressShares } from './address-shares.ts'
import type { Waiting } from './next-batch.ts'
import { type Inserted, insertedBy, insertOf } from './push-inserts.ts'
import { presentPush } from './stored-push.ts'
import { runTogether } from './together.ts'
import { createWorkQueue } from './work-queue.ts'

type Creation = Waiting & { of: PushToStore; resolve: (push: StoredPush) => void }
type Refused = { outcome: 'refused'; cause: unknown }

const MOST_IN_BATCH = 128
/** Bytes of the payloads that go in one batch; a single payload may be larger. */
const MOST_BYTES = 4 * 1024 * 1024
const MOST_AT_ONCE = 2
const MOST_WAITING = 10_000

export function createPushCreation({
  database: { transact, write },
  now,
}: {
  database: Pick<PostgresDatabase, 'transact' | 'write'>
  now: Now
}) {
  const queue = createWorkQueue<Creation>({
    run,
    mostInBatch: MOST_IN_BATCH,
    mostWeight: MOST_BYTES,
    mostAtOnce: MOST_AT_ONCE,
    mostWaiting: MOST_WAITING,
    // Only one push of a batch may have the same idempotency key.
    oneOfEachKey: true,
  })

  function createPush(of: PushToStore): Promise<StoredPush> {
    return new Promise((resolve, reject) => {
      const key = of.idempotency === null ? null : of.idempotency.lookup.toString('latin1')
      queue.add({ of, key, weight: of.secrets.payload.length, since: performance.now(), resolve, reject })
    })
  }

  function run(batch: Creation[], within: number): Promise<Creation[]> {
    return runTogether(batch, (some) => insert(some, within))
  }

  /** Resolves to the creations that go again. */
  async function insert(batch: readonly Creation[], within: number): Promise<Creation[]> {
    if (batch.some(({ of }) => of.share !== null))
      return settle(batch, await transact((session) => insertShares(session, batch), { within }))
    const wanted = batch.map(({ of }) => of)
    const make = (operationId: Uint8Array) => insertOf(wanted, { now: now(), operationId })
    return settle(batch, insertedBy(await write(make, { within }), wanted))
  }

  /** Within a transaction: counts the pushes against their addresses, and inserts those that have room. */
  async function insertShares(session: Session, batch: readonly Creation[]): Promise<(Inserted | Refused)[]> {
    const counted = batch.flatMap(({ of: { share } }) => (share === null ? [] : [share]))
    const shares = await lockAddressShares(session, counted)
    const refused = await refuseWithoutRoom(shares, batch)
    const wanted = batch.filter((one) => !refused.has(one)).map(({ of }) => of)
    const { text, values } = insertOf(wanted, { now: now(), operationId: null })
    const rows = wanted.length === 0 ? [] : await session.query<{ result: number[] }>(text, values)
    await shares.removeEmpty()
    const inserted = insertedBy(rows[0]?.result ?? [], wanted)
    return batch.map((one) => refused.get(one) ?? inserted.shift() ?? { outcome: 'used' })
  }

  return { createPush, idle: queue.idle, count: queue.count }
}

async function refuseWithoutRoom(
  shares: LockedShares,
  batch: readonly Creation[],
): Promise<ReadonlyMap<Creation, Refused>> {
  const refused = new Map<Creation, Refused>()
  for (const one of batch) {
    const { share, push } = one.of
    try {
      if (share !== null) await shares.take(share, push.createdAt)
    } catch (cause) {
      if (!isDomainError(cause, 'too_many')) throw cause
      refused.set(one, { outcome: 'refused', cause })
    }
  }
  return refused
}

/** Returns those that go again. */
function settle(batch: readonly Creation[], outcomes: readonly (Inserted | Refused)[]): Creation[] {
  // A push whose key was used has been counted against its address in vain, so others may have been refused wrongly.
  const isInVain = batch.some(({ of }, n) => of.share !== null && outcomes[n]?.outcome === 'used')
  const again: Creation[] = []
  for (const [n, one] of batch.entries()) {
    const outcome = outcomes[n]
    if (outcome?.outcome === 'stored') one.resolve(presentPush(outcome.row))
    else if (outcome?.outcome === 'inactive') one.reject(inactiveAccount())
    else if (outcome?.outcome === 'abandoned') one.reject(filesAreGone())
    else if (outcome?.outcome !== 'refused') one.reject(usedIdempotencyKey())
    else if (isInVain) again.push(one)
    else one.reject(outcome.cause)
  }
  return again
}

function filesAreGone(): DomainError {
  const message =
    'This server was cut off from its database for too long, and the files are gone: send them again.'
  return new DomainError('overloaded', message, { retryAfter: 1 })
}
