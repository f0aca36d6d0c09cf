// A PostgreSQL database that a move begins or ends at.

import { presentDatabaseAddress } from '../../../domain/database-address.ts'
import { DomainError } from '../../../domain/errors.ts'
import type { MovingPlace } from '../../moving/ends.ts'
import type { MoveState } from '../../moving-face.ts'
import { onOwnConnection } from '../../postgres/engine/own-connection.ts'
import { serverText } from '../../postgres/engine/server-text.ts'
import { readTag, requireIdle } from '../../postgres/moving/checks.ts'
import { clearRows } from '../../postgres/moving/clear-rows.ts'
import { type Query, readMovedAway, readMoveState } from '../../postgres/moving/move-row.ts'
import { createMovingReader } from '../../postgres/moving/read-rows.ts'
import { type Connected, withSession } from '../../postgres/moving/session.ts'
import { hasTables, requireCurrentSchema } from '../../postgres/schema/schema-version.ts'
import { openPostgresSource, type PostgresPlaceOptions } from './postgres-source.ts'
import { openPostgresTarget } from './postgres-target.ts'

export function postgresPlace(options: PostgresPlaceOptions): MovingPlace {
  const name = presentDatabaseAddress(options.address)
  const reading = <T>(read: (query: Query) => Promise<T>) =>
    withSession(options, async (session) => ((await hasTables(session.connect)) ? read(session.query) : null))
  return {
    name,
    findMovedAway: () => reading(readMovedAway),
    findState: () => reading(readMoveState),
    openSource: () => openPostgresSource(options, name),
    lookAtTarget: () => withSession(options, (session) => look(session, name)),
    openTarget: (how) => openPostgresTarget(options, name, how),
    isFilled: async () => (await reading(isFilled)) ?? false,
    findTag: () => reading(readTag),
    findFormerFolder: () => withSession(options, ({ query }) => createMovingReader(query).readBucketFolder()),
    destroy: () =>
      withSession(options, ({ transact }) => transact((within) => clearRows(within, { keepFolder: false }))),
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

/** A database that a node was started with once has keys and a link for the first administrator, which nobody needs. */
async function requireVacant(query: Query, name: string): Promise<void> {
  const away = await readMovedAway(query)
  const { accounts, pushes } = await createMovingReader(query).count()
  if (accounts === 0 && pushes === 0) return
  const why =
    away === null
      ? `it holds ${accounts} accounts and ${pushes} pushes`
      : `everything in it was moved to ${serverText(away.to)}`
  throw new DomainError(
    'conflict',
    `Cannot move into ${name}: ${why}. A move never replaces anything: name an empty database with --to.`,
  )
}

async function isFilled(query: Query): Promise<boolean> {
  if ((await readMovedAway(query)) !== null) return false
  const { items } = await createMovingReader(query).readRows('instanceKeys', null)
  return items.length > 0
}
