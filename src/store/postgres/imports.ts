// An import is one transaction, in which no node may serve.

import { DomainError } from '../../domain/errors.ts'
import { HOUR, type Now } from '../../domain/time.ts'
import type { ImportStore } from '../import-face.ts'
import { createImport, createImportLook } from '../pushes/imports.ts'
import type { Steps } from '../steps.ts'
import type { PostgresDatabase, Session } from './engine/database.ts'
import { drive } from './engine/run-steps.ts'
import { listOthers } from './instance/instance.ts'

/** However much comes. */
const WITHIN_MS = 12 * HOUR

/** Until the end of the transaction. A pair of numbers never equals the single one of a migration. */
const LOCK = 'SELECT pg_try_advisory_xact_lock(7216, 1) AS locked'

export type ImportsOptions = {
  database: Pick<PostgresDatabase, 'transact'>
  steps: Steps
  /** The id of this process among the nodes. */
  node: Uint8Array
  now: Now
}

export function createImports({ database, steps, node, now }: ImportsOptions): ImportStore {
  return {
    importAll: (work) =>
      database.transact(
        async (session) => {
          await requireAlone(session, node)
          await work(createImport((step) => drive(step, session), now))
        },
        { within: WITHIN_MS },
      ),
    isKnown: createImportLook(steps).isKnown,
  }
}

async function requireAlone(session: Session, node: Uint8Array): Promise<void> {
  const [{ locked } = { locked: false }] = await session.query<{ locked: boolean }>(LOCK)
  if (!locked) throw new DomainError('conflict', 'Another import into this database is running.')
  const [other] = await listOthers(session, node)
  if (other !== undefined)
    throw new DomainError(
      'conflict',
      `The node ${other} serves this database. Stop all nodes before an import; one that was killed counts as stopped ` +
        'after a minute.',
    )
}
