// A PostgreSQL database as the source of a move.

import { DomainError } from '../../../domain/errors.ts'
import { notLeft, type SourceEnd, sourceInUse } from '../../moving/ends.ts'
import type { MovedAway } from '../../moving-face.ts'
import { onOwnConnection } from '../../postgres/engine/own-connection.ts'
import { requireServable } from '../../postgres/instance/servable.ts'
import { readMark, requireIdle, requireReadable } from '../../postgres/moving/checks.ts'
import { keepMovesAway, type Query, readMovedAway, writeMovedAway } from '../../postgres/moving/move-row.ts'
import { createMovingReader } from '../../postgres/moving/read-rows.ts'
import {
  type Connected,
  closingOnFailure,
  openSession,
  type PostgresOptions,
} from '../../postgres/moving/session.ts'
import { writeBucketFolder } from '../../postgres/moving/write-rows.ts'
import { requireCurrentSchema } from '../../postgres/schema/schema-version.ts'
import { type Remembering, readRemembered } from '../remembering.ts'

/** One snapshot for everything that is read. */
const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'

/** `remembering`: what nodes remember of the database. One that was set back or left behind is no source. */
export type PostgresPlaceOptions = PostgresOptions & { remembering: Remembering }

/** Throws `conflict` while a node serves the database, and when none would. `away`: null, or the mark of one that was left. */
export async function openPostgresSource(
  options: PostgresPlaceOptions,
  { name, away }: { name: string; away: MovedAway | null },
): Promise<SourceEnd> {
  const session = await openSession(options)
  const { connect, query } = session
  return closingOnFailure(session, async () => {
    await onOwnConnection(connect, requireCurrentSchema)
    // Before it was left it was the latest state, and since then nobody has changed it.
    if (away === null) {
      await requireReadable(query)
      await requireLatest(query, options)
    }
    await requireIdle(query, name)
    await query(SNAPSHOT)
    const mark = await readMark(query)
    if (away === null) await requireReadable(query)
    else await requireLeft(query, { name, id: away.id })
    return sourceOf(session, { name, mark })
  })
}

async function requireLeft(query: Query, { name, id }: { name: string; id: string }): Promise<void> {
  if ((await readMovedAway(query))?.id !== id) throw new DomainError('conflict', notLeft(name))
}

const FLAGS = { database: '--from', folder: '--from-data-dir' }

/** The target would be served without knowing that its rows came from an earlier state. */
function requireLatest(query: Query, { remembering, onWarning }: PostgresPlaceOptions): Promise<void> {
  const remembered = readRemembered(remembering, { flag: FLAGS.folder, onWarning })
  const read = <T>(work: (session: { query: Query }) => Promise<T>) => work({ query })
  return requireServable({ ...remembered, read, renew: null, onWarning, flags: FLAGS })
}

function sourceOf(session: Connected, { name, mark }: Pick<SourceEnd, 'name' | 'mark'>): SourceEnd {
  const { query, transact, close } = session

  /** Nodes change the row of the instance before they serve. */
  async function change(work: (within: Query) => Promise<void>): Promise<void> {
    await query('COMMIT')
    await transact(async (within) => {
      await keepMovesAway(within)
      await requireIdle(within, name)
      if ((await readMark(within)) !== mark) throw new DomainError('conflict', sourceInUse(name))
      await work(within)
    })
    await query(SNAPSHOT)
  }

  return {
    name,
    reader: createMovingReader(query),
    mark,
    leave: (away) => change((within) => writeMovedAway(within, away)),
    settleFiles: (folder) => change((within) => writeBucketFolder(within, folder)),
    close: async () => close(),
  }
}
