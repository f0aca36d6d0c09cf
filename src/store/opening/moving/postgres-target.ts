// A PostgreSQL database as the target of a move.

import type { OpenTarget, TargetEnd } from '../../moving/ends.ts'
import { lockMoves, requireIdle } from '../../postgres/moving/checks.ts'
import { clearRows } from '../../postgres/moving/clear-rows.ts'
import { forgetMoveState, readMoveState, writeMoveState } from '../../postgres/moving/move-row.ts'
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
  { state, anew }: OpenTarget,
): Promise<TargetEnd> {
  const session = await openSession(options)
  const { connect, query, transact } = session
  return closingOnFailure(session, async () => {
    await lockMoves(query, name)
    await migrate({ connect, onWarning: options.onWarning })
    const before = await readMoveState(query)
    await transact(async (within) => {
      await within('SELECT FROM instance FOR UPDATE')
      await requireIdle(within, name)
      if (before === null || anew) await clearRows(within, { keepFolder: before !== null })
      await writeMoveState(within, state)
    })
    return targetOf(session, name)
  })
}

function targetOf({ query, transact, close }: Connected, name: string): TargetEnd {
  return {
    name,
    reader: createMovingReader(query),
    writer: createMovingWriter({ query, transact }),
    writeState: (next) => transact((within) => writeMoveState(within, next)),
    confirm: () => transact(forgetMoveState),
    close: async () => close(),
  }
}
