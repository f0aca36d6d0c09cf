// A PostgreSQL database as the target of a move.

import type { OpenTarget, TargetEnd } from '../../moving/ends.ts'
import { lockMoves, requireIdle } from '../../postgres/moving/checks.ts'
import { clearRows } from '../../postgres/moving/clear-rows.ts'
import { forgetState, readState, writeState } from '../../postgres/moving/move-row.ts'
import { createMovingReader } from '../../postgres/moving/read-rows.ts'
import { type Connected, closing, openSession, type PostgresOptions } from '../../postgres/moving/session.ts'
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
  return closing(session, async () => {
    await lockMoves(query, name)
    await migrate({ connect, onWarning: options.onWarning })
    const before = await readState(query)
    await transact(async (within) => {
      await within('SELECT FROM instance FOR UPDATE')
      await requireIdle(within, name)
      if (before === null || anew) await clearRows(within)
      await writeState(within, state)
    })
    return targetOf(session, name)
  })
}

function targetOf({ query, transact, close }: Connected, name: string): TargetEnd {
  return {
    name,
    reader: createMovingReader(query),
    writer: createMovingWriter({ query, transact }),
    writeState: (next) => transact((within) => writeState(within, next)),
    confirm: () => transact(forgetState),
    close: async () => close(),
  }
}
