// A push as its two rows say it: the one that is only read, and the one that a view changes.

import type { StoredPush } from '../face.ts'
import type { RowOf } from '../statements.ts'
import type { pushes, pushState } from '../tables.ts'

/** Names each column: to spread a second object takes as long as to read its row. */
export function presentPush(push: RowOf<typeof pushes>, state: RowOf<typeof pushState>): StoredPush {
  return {
    ...push,
    updatedAt: state.updatedAt,
    views: state.views,
    lastViewedAt: state.lastViewedAt,
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
