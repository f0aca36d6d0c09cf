// A push as the services see it, from its row.

import type { StoredPush } from '../../face.ts'
import { columnsTo, type RowOf } from '../engine/rows.ts'
import { pushes } from '../engine/schema.ts'

export type PushRow = RowOf<typeof pushes>

/** The columns of the row, of the table `p`. */
export const PUSH_COLUMNS = columnsTo(pushes, 'p.')

/** Without what only the engine counts. */
export function presentPush({ version, entries, ...push }: PushRow): StoredPush {
  return push
}
