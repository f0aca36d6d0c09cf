// A PostgreSQL database that a move begins or ends at.

import { presentDatabaseAddress } from '../../../domain/database-address.ts'
import type { MovingPlace } from '../../moving/ends.ts'
import type { MoveState } from '../../moving-face.ts'
import { onOwnConnection } from '../../postgres/engine/own-connection.ts'
import { readTag, requireIdle } from '../../postgres/moving/checks.ts'
import { clearRows } from '../../postgres/moving/clear-rows.ts'
import {
  type Query,
  readArrived,
  readMovedAway,
  readMoveState,
  settleLeft,
} from '../../postgres/moving/move-row.ts'
import { createMovingReader } from '../../postgres/moving/read-rows.ts'
import { type Connected, withSession } from '../../postgres/moving/session.ts'
import { hasTables, requireCurrentSchema } from '../../postgres/schema/schema-version.ts'
import { openPostgresSource, type PostgresPlaceOptions } from './postgres-source.ts'
import { openPostgresTarget, requireVacant } from './postgres-target.ts'

export function postgresPlace(options: PostgresPlaceOptions): MovingPlace {
  const name = presentDatabaseAddress(options.address)
  const reading = <T>(read: (query: Query) => Promise<T>) =>
    withSession(options, async (session) => ((await hasTables(session.connect)) ? read(session.query) : null))
  return {
    name,
    findMovedAway: () => reading(readMovedAway),
    findArrived: () => reading(readArrived),
    openSource: (away) => openPostgresSource(options, { name, away }),
    lookAtTarget: () => withSession(options, (session) => look(session, name)),
    openTarget: (how) => openPostgresTarget(options, name, how),
    findTag: () => reading(readTag),
    reading: (work) => withSession(options, ({ query }) => work(createMovingReader(query))),
    settle: (id) =>
      withSession(options, ({ transact }) => transact((query) => settleLeft(query, { id, name }))),
    findFormerFolder: () => withSession(options, ({ query }) => createMovingReader(query).readBucketFolder()),
    destroy: ({ id }) =>
      withSession(options, ({ transact }) => transact((query) => destroyLeft(query, { id, name }))),
  }
}

/** Throws `conflict` for a database that is in use. */
async function look({ connect, query }: Connected, name: string): Promise<MoveState | null> {
  if (!(await hasTables(connect))) return null
  await onOwnConnection(connect, requireCurrentSchema)
  const state = await readMoveState(query)
  if (state !== null) return state
  await requireIdle(query, name)
  await requireVacant(query, name)
  return null
}

/** Within a transaction, which keeps a failover to an earlier state out. */
async function destroyLeft(query: Query, { id, name }: { id: string; name: string }): Promise<void> {
  await query('SELECT FROM instance FOR UPDATE')
  await requireIdle(query, name)
  await settleLeft(query, { id, name })
  await clearRows(query, { keepFolder: false })
}
