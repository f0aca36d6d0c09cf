// A push as the services see it, from its row.

import type { StoredPush } from '../../face.ts'
import type { RowOf } from '../schema/rows.ts'
import type { pushes } from '../schema/schema.ts'

export type PushRow = RowOf<typeof pushes>

/** Without what only the engine counts. */
export function presentPush({ version, entries, ...push }: PushRow): StoredPush {
  return push
}
