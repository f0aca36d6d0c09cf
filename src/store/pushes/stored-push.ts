// A push as its two rows say it: the one that is only read, and the one that a view changes.

import { LAST_TIME } from '../../domain/time.ts'
import type { StoredPush } from '../pushes-contract.ts'
import type { RowOf } from '../statements.ts'
import type { pushes, pushState } from '../tables.ts'

/**
 * Stored as the last view of a new push. In SQLite it takes two bytes more than the time of a view, so that
 * the row has room for its first views: a row that grows in a full page makes SQLite divide it, and write its
 * neighbours too.
 */
export const NOT_VIEWED = LAST_TIME

/** Names each column: to spread a second object takes as long as to read its row. */
export function presentPush(push: RowOf<typeof pushes>, state: RowOf<typeof pushState>): StoredPush {
  return {
    ...push,
    updatedAt: state.updatedAt,
    views: state.views,
    lastViewedAt: state.lastViewedAt === NOT_VIEWED ? 0 : state.lastViewedAt,
    wrongTries: state.wrongTries,
    wrongTriesSince: state.wrongTriesSince,
    wrongTriesInAll: state.wrongTriesInAll,
    triesSpent: state.triesSpent,
    auditEntries: state.auditEntries,
    failures: state.failures,
    ownerViews: state.ownerViews,
    edits: state.edits,
    countedFailures: state.countedFailures,
    countedAt: state.countedAt,
    countedFrom: state.countedFrom,
  }
}
