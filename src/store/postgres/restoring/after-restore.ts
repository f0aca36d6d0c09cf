// Makes a database that was set back safe to serve: nothing in it opens anything any more.

import type { Visit } from '../../../domain/audit.ts'
import { countersAfterRestore, type Witness } from '../../../domain/restoration.ts'
import { MINUTE } from '../../../domain/time.ts'
import { loseSome } from '../../pushes/expiry.ts'
import type { PostgresDatabase } from '../engine/database.ts'
import { drive } from '../engine/run-steps.ts'
import { haltNodes, readInstance } from '../instance/instance.ts'

/** For counting and for removing what may be many rows. */
const WITHIN_MS = 10 * MINUTE

/** What opens something, or answers for what has ended: a dump brings it back. */
const REMOVED = [
  'sessions',
  'account_links',
  'idempotency_keys',
  'two_factor_offers',
  'used_nonces',
  'leases',
]

export type Settlement = { beats: number; restoredAt: number; place: string; tag: string; time: number }

export type ExpiringOptions = {
  now: number
  visit: Visit
  onProgress: (done: number, total: number) => void
}

type Transact = Pick<PostgresDatabase, 'transact'>

export async function countLive({ read }: Pick<PostgresDatabase, 'read'>): Promise<number> {
  const [row] = await read(
    ({ query }) =>
      query<{ count: number }>('SELECT count(*)::float8 AS count FROM pushes WHERE expired_on IS NULL'),
    { within: WITHIN_MS },
  )
  return row?.count ?? 0
}

const UNDER_WAY =
  'The database was set back, and "oncebox after-restore" has not come to its end: nothing is served. Run it again.'

/** Nodes that serve stop at their next heartbeat. */
export function haltWhileRestoring({ transact }: Transact): Promise<void> {
  return transact((session) => haltNodes(session, UNDER_WAY))
}

/** In steps, each in a transaction of its own. Resolves to the number of pushes that were lost. */
export async function expireEverything(
  database: Pick<PostgresDatabase, 'read' | 'transact'>,
  { now, visit, onProgress }: ExpiringOptions,
): Promise<number> {
  const total = await countLive(database)
  let [done, lost] = [0, 0]
  for (;;) {
    const some = await database.transact((session) => drive(loseSome({ now, visit }), session), {
      within: WITHIN_MS,
    })
    if (some.found === 0) break
    done += some.found
    lost += some.lost
    onProgress(done, Math.max(done, total))
  }
  for (const table of REMOVED)
    await database.transact(({ query }) => query(`DELETE FROM ${table}`), { within: WITHIN_MS })
  return lost
}

/** Lets nodes serve again. What they and others remember from before does not count any more. */
export function resumeNodes(
  { transact }: Transact,
  known: readonly Pick<Witness, 'beats' | 'restoredAt'>[],
): Promise<Settlement> {
  return transact(async (session) => {
    const state = await readInstance(session, { lock: true })
    const { beats, restoredAt } = countersAfterRestore(Math.floor(state.time), [state, ...known])
    await session.query('UPDATE instance SET halted = NULL, restored_at = $1, beats = $2, place = $3', [
      restoredAt,
      beats,
      state.here,
    ])
    return { beats, restoredAt, place: state.here, tag: state.tag, time: Math.floor(state.time) }
  })
}
