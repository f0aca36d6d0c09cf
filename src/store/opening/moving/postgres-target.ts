// A PostgreSQL database as the target of a move.

import { DomainError } from '../../../domain/errors.ts'
import { type OpenTarget, type TargetEnd, targetChanged } from '../../moving/ends.ts'
import { serverText } from '../../postgres/engine/server-text.ts'
import { lockMoves, requireIdle } from '../../postgres/moving/checks.ts'
import { clearRows } from '../../postgres/moving/clear-rows.ts'
import {
  arrive,
  type Query,
  readMovedAway,
  readMoveState,
  writeMoveState,
} from '../../postgres/moving/move-row.ts'
import { createMovingReader } from '../../postgres/moving/read-rows.ts'
import {
  type Connected,
  closingOnFailure,
  openSession,
  type PostgresOptions,
} from '../../postgres/moving/session.ts'
import { createMovingWriter } from '../../postgres/moving/write-rows.ts'
import { migrate } from '../../postgres/schema/migrate.ts'

/** Makes the tables when they are missing. */
export async function openPostgresTarget(
  options: PostgresOptions,
  name: string,
  { found, state, anew }: OpenTarget,
): Promise<TargetEnd> {
  const session = await openSession(options)
  const { connect, query, transact } = session
  return closingOnFailure(session, async () => {
    await lockMoves(query, name)
    await migrate({ connect, onWarning: options.onWarning })
    await transact(async (within) => {
      await within('SELECT FROM instance FOR UPDATE')
      await requireIdle(within, name)
      const before = await readMoveState(within)
      if (before?.id !== found?.id) throw new DomainError('conflict', targetChanged(name))
      if (before === null) await requireVacant(within, name)
      if (before === null || anew) await clearRows(within, { keepFolder: before !== null })
      await writeMoveState(within, state)
    })
    return targetOf(session, { id: state.id, name })
  })
}

/** A database that a node was started with once has keys and a link for the first administrator, which nobody needs. */
export async function requireVacant(query: Query, name: string): Promise<void> {
  const left = await readMovedAway(query)
  const { accounts, pushes } = await createMovingReader(query).count()
  if (accounts === 0 && pushes === 0) return
  const why =
    left === null
      ? `it holds ${accounts} accounts and ${pushes} pushes`
      : `everything in it was moved to ${serverText(left.to)}`
  throw new DomainError(
    'conflict',
    `Cannot move into ${name}: ${why}. A move never replaces anything: name an empty database with --to.`,
  )
}

function targetOf(
  { query, transact, close }: Connected,
  { id, name }: { id: string; name: string },
): TargetEnd {
  return {
    name,
    reader: createMovingReader(query),
    writer: createMovingWriter({ query, transact }),
    writeState: (next) => transact((within) => writeMoveState(within, next)),
    confirm: () => transact((within) => arrive(within, { id, name })),
    close: async () => close(),
  }
}
