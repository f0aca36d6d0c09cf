// An import is one transaction, in which no other node may serve.

import { HOUR, type Now } from '../../domain/time.ts'
import type { ImportStore } from '../import-face.ts'
import { createImport, createImportLook } from '../pushes/imports.ts'
import type { Steps } from '../steps.ts'
import type { PostgresDatabase } from './engine/database.ts'
import { drive } from './engine/run-steps.ts'
import { refuseBesideNodes } from './instance/instance.ts'

/** However much comes. */
const WITHIN_MS = 12 * HOUR

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
          // Another import is a node, too.
          await refuseBesideNodes(session, node)
          await work(createImport((step) => drive(step, session), now))
        },
        { within: WITHIN_MS },
      ),
    isKnown: createImportLook(steps).isKnown,
  }
}
